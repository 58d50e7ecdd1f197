"""From the models of other libraries to a `Network`, compared with what they answer."""
