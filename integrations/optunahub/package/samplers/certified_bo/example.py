"""A study whose trials say what was proven of them."""

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    """Return a bowl."""
    x = trial.suggest_float("x", -5.0, 5.0)
    return (x - 2.0) ** 2


if __name__ == "__main__":
    module = optunahub.load_module("samplers/certified_bo")
    study = optuna.create_study(sampler=module.CertifiedSampler(seed=0))
    study.optimize(objective, n_trials=20)
    print(study.best_trial.params, study.best_trial.user_attrs)
