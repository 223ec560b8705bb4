"""The search: Optuna proposes options, each trial trains with them and is scored, and everything is kept in a folder.

The folder has one file, trials.jsonl, the journal of Optuna's file storage: one JSON object per line with the options, scores and
times of trials; no texts, no models, and nothing that runs code when it is read. A search that was stopped continues from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from regard.errors import InputError
from regard.extras import import_extra
from regard.files import check_plain, contents
from regard.recorder import Recorder, Silent
from regard.training.fit import prepare
from regard.tuning.scoring import Splits, score
from regard.tuning.space import Choices, Space, Value, default_values, rounded, search_space

JOURNAL = "trials.jsonl"
STUDY = "regard"
IDENTITY, DEFAULTS, ERROR = "identity", "defaults", "error"  # attributes of a study and of trials
UNPRUNED = 5  # trials that always run to their end, to compare others with


class Limits(NamedTuple):
    trials: int  # in all, with those that the folder already has
    seconds: float | None  # no trial is begun after these


class Proposal(NamedTuple):
    """Options to try."""

    trial: Any  # of Optuna
    options: dict[str, Value]

    @property
    def shown(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.options.items())


class Outcome(NamedTuple):
    """What became of a proposal: a score or an error; neither if it was stopped early."""

    proposal: Proposal
    value: float | None = None
    error: str = ""


Reporting = Callable[[Proposal, float, int], bool]  # a score so far and when it was measured; True: stop the trial


class Executor(Protocol):
    """Trains and scores proposals, here or elsewhere."""

    @property
    def slots(self) -> int:
        """How many at a time."""

    def run(self, take: Callable[[], Proposal | None], report: Reporting) -> Iterator[Outcome | None]:
        """None from time to time."""


class Stopped(Exception):
    """The trial falls behind others."""


class Here:
    """In this process, one after the other."""

    def __init__(self, splits: Splits) -> None:
        self.splits, self.slots = splits, 1

    def run(self, take: Callable[[], Proposal | None], report: Reporting) -> Iterator[Outcome]:
        while (proposal := take()) is not None:

            def stop_if_behind(value: float, step: int, proposal: Proposal = proposal) -> None:
                if report(proposal, value, step):
                    raise Stopped

            try:
                value = score(self.splits.config.override(proposal.options), self.splits, stop_if_behind)
            except Stopped:
                yield Outcome(proposal)
            except InputError as error:  # it diverged, or these options contradict each other
                yield Outcome(proposal, error=str(error))
            else:
                yield Outcome(proposal, value)


class Found(NamedTuple):
    measure: str
    trials: int
    pruned: int
    failed: int
    best: float | None  # None: no trial has finished
    options: dict[str, Value]  # of the best trial, as far as they are not the defaults or given
    default: float | None  # the score of the defaults
    interrupted: bool


def check_folder(folder: Path) -> None:
    """Refuse a folder of something else."""
    check_plain(folder)
    if folder.is_dir() and (others := [name for name in contents(folder) if not name.startswith(JOURNAL)]):
        raise InputError(f"{folder} is not a folder of `regard tune` (it contains {others[0]!r}); nothing was written")


def search(
    splits: Splits, given: Collection[str], folder: Path, limits: Limits, recorder: Recorder, executor: Executor
) -> Found:
    """`given`: options that the user has chosen, which are not varied."""
    optuna = import_extra("optuna", "regard tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    prepared = prepare(splits.config, splits.parts[0], Silent())
    space = search_space(prepared.config, given)
    if not space:
        raise InputError("nothing is left to tune: every option of the search was given; leave one of them out")
    defaults = {name: default_values(prepared.config)[name] for name in space}
    identity = identify(prepared.identity, splits, space)
    study = open_study(optuna, folder / JOURNAL, identity, splits.minimised)
    trials = Trials(optuna, study, splits, space, recorder)
    trials.clean_up(defaults)
    interrupted = trials.run(limits, prepared.config.training.seed, executor)
    return trials.found(defaults, interrupted)


def identify(training: str, splits: Splits, space: Space) -> str:
    """Equal for searches that can be continued by each other: same texts, splits, given options, measure and space."""
    hashed = (training, str(len(splits.parts)), splits.measure, repr(space))
    return sha256("\0".join(hashed).encode()).hexdigest()


def open_study(optuna: Any, path: Path, identity: str, minimised: bool) -> Any:
    backends = optuna.storages.journal
    direction = "minimize" if minimised else "maximize"
    try:
        lock = backends.JournalFileOpenLock(str(path))  # the default lock is a symbolic link, which Windows may refuse
        storage = optuna.storages.JournalStorage(backends.JournalFileBackend(str(path), lock_obj=lock))
        study = optuna.create_study(storage=storage, study_name=STUDY, direction=direction, load_if_exists=True)
        known = study.user_attrs.get(IDENTITY)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a journal of `regard tune` ({error}); choose another --out") from None
    if known is None:
        study.set_user_attr(IDENTITY, identity)
    elif known != identity:
        raise InputError(
            f"{path}: expected a search on the same texts with the same options, got another one; choose another --out"
        )
    return study


class Trials:
    """The trials of one study."""

    def __init__(self, optuna: Any, study: Any, splits: Splits, space: Space, recorder: Recorder) -> None:
        self.optuna, self.study, self.splits, self.space, self.recorder = optuna, study, splits, space, recorder
        self.states = optuna.trial.TrialState
        self.reported: set[tuple[int, int]] = set()  # number of the trial, step

    def finished(self) -> list[Any]:
        """Completed, stopped early, or failed with an error; not those that were interrupted."""
        listed = self.study.get_trials(deepcopy=False)
        return [one for one in listed if one.state.is_finished() and (one.state != self.states.FAIL or self.error(one))]

    def error(self, trial: Any) -> str:
        return str(trial.user_attrs.get(ERROR, ""))

    def clean_up(self, defaults: dict[str, Value]) -> None:
        """End what a killed process left running, and make the defaults the first trial."""
        for one in self.study.get_trials(deepcopy=False, states=(self.states.RUNNING,)):
            self.study.tell(one.number, state=self.states.FAIL)
        waiting = self.study.get_trials(deepcopy=False, states=(self.states.WAITING,))
        if not any(one.user_attrs.get(DEFAULTS) for one in [*self.finished(), *waiting]):
            self.study.enqueue_trial(defaults, user_attrs={DEFAULTS: True})

    def run(self, limits: Limits, seed: int, executor: Executor) -> bool:
        """Returns whether it was interrupted with Ctrl-C."""
        begun, done, parallel = time.monotonic(), len(self.finished()), executor.slots > 1
        if done:
            self.recorder.note(f"continuing after {done} trial{'s' * (done != 1)}")
        # trials at the same time: those that run count as bad ones, so that the next is not proposed beside them
        self.study.sampler = self.optuna.samplers.TPESampler(seed=seed + done, constant_liar=parallel)
        self.study.pruner = self.optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED)
        running: list[Proposal] = []

        def take() -> Proposal | None:
            in_time = limits.seconds is None or time.monotonic() - begun < limits.seconds
            if done + len(running) >= limits.trials or not in_time:
                return None
            running.append(self.propose())
            return running[-1]

        try:
            for outcome in executor.run(take, self.report):
                if outcome is not None:
                    sentence = self.conclude(outcome)
                    running.remove(outcome.proposal)
                    done += 1
                    self.recorder.note(f"trial {done} of {limits.trials}: {sentence}{self.best_so_far()}")
        except KeyboardInterrupt:
            for proposal in running:
                self.study.tell(proposal.trial, state=self.states.FAIL)
            return True
        return False

    def propose(self) -> Proposal:
        trial = self.study.ask()
        return Proposal(trial, {name: suggest(trial, name, one) for name, one in self.space.items()})

    def report(self, proposal: Proposal, value: float, step: int) -> bool:
        number = proposal.trial.number
        if (number, step) in self.reported:  # a trial that was lost on a cluster begins again
            return False
        self.reported.add((number, step))
        proposal.trial.report(value, step)
        return bool(proposal.trial.should_prune())

    def conclude(self, outcome: Outcome) -> str:
        """Keep a result; returns what to say about it."""
        (trial, _), shown = outcome.proposal, outcome.proposal.shown
        if outcome.error:
            trial.set_user_attr(ERROR, outcome.error)
            self.study.tell(trial, state=self.states.FAIL)
            return f"failed: {outcome.error}"
        if outcome.value is None:
            self.study.tell(trial, state=self.states.PRUNED)
            return f"stopped early ({shown})"
        self.study.tell(trial, outcome.value)
        return f"{self.splits.measure} {outcome.value:.4f} ({shown})"

    def completed(self) -> list[Any]:
        return [one for one in self.finished() if one.state == self.states.COMPLETE]

    def best(self) -> Any | None:
        """The first of the best."""
        sign = 1 if self.splits.minimised else -1
        return min(self.completed(), key=lambda one: (sign * one.value, one.number), default=None)

    def best_so_far(self) -> str:
        best = self.best()
        return "" if best is None else f"; best so far: {best.value:.4f}"

    def found(self, defaults: dict[str, Value], interrupted: bool) -> Found:
        best, finished = self.best(), self.finished()
        plain = next((one.value for one in self.completed() if one.user_attrs.get(DEFAULTS)), None)
        # defaults are left out of the command only if all are: one may depend on the others
        chosen = {} if best is None else {name: rounded(value) for name, value in best.params.items()}
        return Found(
            self.splits.measure,
            len(finished),
            sum(one.state == self.states.PRUNED for one in finished),
            sum(one.state == self.states.FAIL for one in finished),
            None if best is None else float(best.value),
            {} if chosen == defaults else chosen,
            None if plain is None else float(plain),
            interrupted,
        )


def suggest(trial: Any, name: str, one: Any) -> Value:
    if isinstance(one, Choices):
        chosen: Value = trial.suggest_categorical(name, one.values)
        return chosen
    if one.whole:
        return int(trial.suggest_int(name, int(one.low), int(one.high), log=one.log))
    return rounded(float(trial.suggest_float(name, one.low, one.high, log=one.log)))
