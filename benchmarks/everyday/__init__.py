"""What a user gets who chooses nothing: noise, mixed spaces, smooth physics, short runs."""
