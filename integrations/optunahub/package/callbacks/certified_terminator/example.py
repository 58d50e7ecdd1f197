"""A study that stops with a proof."""

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    """Return a bowl."""
    x = trial.suggest_float("x", -5.0, 5.0)
    return (x - 2.0) ** 2


if __name__ == "__main__":
    module = optunahub.load_module("callbacks/certified_terminator")
    study = optuna.create_study()
    terminator = module.CertifiedTerminator("regret:tolerance=0.01")
    study.optimize(objective, n_trials=100, callbacks=[terminator])
    print(len(study.trials), study.user_attrs["nnbo:stop"])
