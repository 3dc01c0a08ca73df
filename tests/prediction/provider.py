"""The providers on paper: effects, keys, unique references, objects. No HTTP, no database, no clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.prediction.contracts_world import HANDLES, STOCK, Traits
from tests.prediction.rules import Rule, Rules


@dataclass(frozen=True)
class Request:
    """One upstream request: effect class and binding fields; key and reference where the call carried them."""

    effect_class: str
    fields: dict[str, Any]
    key: str | None = None
    reference: str | None = None
    free: Any = None
    others: tuple[dict[str, Any], ...] = ()
    """Fields of the further effects that the same request makes, in one transaction."""

    @property
    def bound(self) -> Any:
        """What a key is bound to."""
        return [self.fields, *self.others]


@dataclass(frozen=True)
class Answer:
    """``new``: an effect came of it. ``code``: exists, mismatch or not_found, where it was refused."""

    receipt: str
    new: bool = False
    code: str | None = None
    others: tuple[str, ...] = ()
    """Receipts of the further effects of the request."""


@dataclass
class Made:
    """An effect in external state."""

    effect_class: str
    fields: dict[str, Any]
    receipt: str
    reference: str | None = None
    decoy: bool = False


@dataclass
class Provider:
    """External state. ``retention_s``: None is for ever."""

    traits: Traits
    rules: Rules
    retention_s: float | None
    effects: list[Made] = field(default_factory=list)
    _keys: dict[tuple[str, str], tuple[Any, str, float, tuple[str, ...]]] = field(default_factory=dict)
    _count: int = 0

    def write(self, request: Request, now: float) -> Answer:
        """What the provider does with one request that it is let to have."""
        if request.effect_class == "object":
            return self._put(request)
        name = self._recognised_by(request)
        if name is None:
            return self._impossible(request) or self._make(request)
        unique = self.traits.key == "unique" or self.traits.assay
        expires = not unique and self.retention_s is not None and Rule.RETENTION_ENDS in self.rules
        if self.traits.key == "content" and Rule.ARGUMENT_HASH_EXPIRES not in self.rules:
            expires = False
        bound = request.bound if Rule.FREE_ARGUMENTS_DO_NOT_BIND in self.rules else (request.bound, request.free)
        known = self._keys.get((request.effect_class, name))
        if known is not None and not (expires and now >= known[2] + (self.retention_s or 0.0)):
            if known[0] != bound and Rule.KEY_CONFLICTS in self.rules:
                return Answer(known[1], code="mismatch")
            code = "exists" if unique and Rule.UNIQUE_REFERENCE_REFUSES in self.rules else None
            return Answer(known[1], code=code, others=known[3])
        refused = self._impossible(request)
        if refused is not None:
            return refused
        answer = self._make(request)
        self._keys[request.effect_class, name] = (bound, answer.receipt, now, answer.others)
        return answer

    def _impossible(self, request: Request) -> Answer | None:
        """A deletion of what is not there, a handle that is taken; None: the effect can be made."""
        if request.effect_class == "deletion" and Rule.DELETED_IS_NOT_FOUND in self.rules:
            gone = {made.fields["name"] for made in self.effects if made.effect_class == "deletion"}
            return Answer("", code="not_found") if request.fields["name"] not in STOCK - gone else None
        handle = HANDLES.get(request.effect_class)
        if handle is None or self.traits.taken is None or Rule.TAKEN_HANDLE_IS_TAKEN not in self.rules:
            return None
        taken = next((made for made in self.effects if made.fields.get(handle) == request.fields[handle]), None)
        if taken is None:
            return None
        if taken.fields != request.fields:
            return Answer(taken.receipt, code="mismatch")
        return Answer(taken.receipt, code="exists" if self.traits.taken == "refuse" else None)

    def _recognised_by(self, request: Request) -> str | None:
        """The name under which a repeat of this request is recognised; None: by nothing."""
        traits, rules = self.traits, self.rules
        if traits.key == "content" and Rule.ARGUMENT_HASH_DEDUPLICATES in rules:
            return repr(sorted(request.fields.items()))
        kept = traits.key in ("provider", "unique") or (traits.key == "dropped" and Rule.KEY_DROPPER_DROPS not in rules)
        kept = kept or (traits.assay and request.effect_class == "charge" and Rule.PAID_IS_UNIQUE in rules)
        return request.key if kept and Rule.KEY_REPLAYS in rules else None

    def _make(self, request: Request) -> Answer:
        self._count += 1
        receipt = f"{request.effect_class}_{self._count}"
        self.effects.append(Made(request.effect_class, dict(request.fields), receipt, request.reference))
        others = []
        for fields in request.others:
            self._count += 1
            others.append(f"{request.effect_class}_{self._count}")
            self.effects.append(Made(request.effect_class, dict(fields), others[-1], request.reference))
        return Answer(receipt, new=True, others=tuple(others))

    def _put(self, request: Request) -> Answer:
        path, content = request.fields["path"], request.fields["content"]
        current = next((made for made in reversed(self.effects) if made.fields.get("path") == path), None)
        if current is None:
            return self._make(request)
        same = current.fields["content"] == content
        if self.traits.create_only and Rule.CONDITIONAL_PUT_REFUSES in self.rules:
            return Answer(current.receipt, code="exists" if same else "mismatch")
        if same and Rule.SAME_CONTENT_IS_NO_EFFECT in self.rules:
            return Answer(current.receipt)
        if self.traits.files and not same and Rule.OVERWRITTEN_IS_GONE in self.rules:
            self.effects.remove(current)
        return self._make(request)

    def add_decoy(self, effect_class: str, fields: dict[str, Any]) -> None:
        """A look-alike of somebody else."""
        self._count += 1
        self.effects.append(Made(effect_class, dict(fields), f"decoy_{self._count}", decoy=True))

    def forget(self) -> None:
        """Its process dies, and with it what it kept nowhere else."""
        if Rule.PROVIDER_KEEPS_ITS_STATE not in self.rules:
            self._keys.clear()

    def find(self, effect_class: str, field_name: str, value: Any) -> list[Made]:
        """What a look-up by the reference or by a natural field finds."""
        if field_name == "reference":
            return [made for made in self.effects if made.effect_class == effect_class and made.reference == value]
        return [made for made in self.effects if made.effect_class == effect_class and made.fields.get(field_name) == value]
