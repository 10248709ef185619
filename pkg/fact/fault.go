package fact

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Fault is one injection of a fault at one member.
type Fault struct {
	// ID, Type, Action, Member and Component are those of the history.Fault.
	ID, Type, Action, Member, Component string
	// Prefixes are those of the keys that it is about, Objects the names of the
	// StorageVersions.
	Prefixes, Objects []string
	Injected          Moment
	// Healed is nil while it is active.
	Healed *Moment
	// Witness is the proof that it had an effect, and Recovery the one that a member is back
	// after a power cut. Whole is whether etcd was seen whole after the healing.
	Witness, Recovery string
	Whole             bool
	// Count is how often it had an effect, as the last witness says.
	Count int64
	// Note is why it may have had none.
	Note string
}

func (h *History) observeFault(ev *history.Event) {
	f := ev.Fault
	at := momentOf(ev)
	if f.Phase == history.PhaseInject {
		h.Faults = append(h.Faults, &Fault{
			ID: f.ID, Type: f.Type, Action: f.Action, Member: ev.Member, Component: f.Component, Prefixes: f.Prefixes, Objects: f.Objects, Injected: at,
		})
		return
	}
	// A fault that was injected twice needs two witnesses: each goes to the injection
	// before it.
	for _, one := range slices.Backward(h.Faults) {
		if one.ID != f.ID || one.Member != ev.Member {
			continue
		}
		switch {
		case f.Phase == history.PhaseHeal:
			if one.Healed == nil {
				one.Healed, one.Note = &at, f.Note
			}
		case f.Phase != history.PhaseWitness || f.Proof == "":
		case one.Type == history.FaultPower && one.Healed != nil:
			one.Recovery = f.Proof
		default:
			one.Witness, one.Count = f.Proof, f.Count
		}
		return
	}
}

func (h *History) observeEtcd(ev *history.Event) {
	for _, f := range h.Faults {
		f.Whole = f.Whole || f.Healed != nil && ev.EtcdHealth.Problem() == ""
	}
}

// Active is from the injection of a fault to its healing. The recorder notes the injection
// when it is done, and the healing when it is over: the fault acts at some time before the
// one and after the beginning of the other.
func (f *Fault) Active() Signal { return Between(f.Injected, f.Healed) }

// About is whether the fault keeps requests about a key from passing.
func (f *Fault) About(key string) bool {
	return (f.Type == history.FaultKeys || f.Type == history.FaultAdmission) && slices.ContainsFunc(f.Prefixes, func(prefix string) bool {
		return strings.HasPrefix(key, prefix)
	})
}

// hits is whether the fault is one of a component of its member, or of the whole member, and
// not of single keys or writes.
func (f *Fault) hits(component string) bool {
	return f.Type != history.FaultKeys && f.Type != history.FaultAdmission && (f.Component == "" || f.Component == component)
}

// FaultActive is while a fault is active that fits.
func (h *History) FaultActive(fits func(*Fault) bool) Signal {
	return Or(Each(Where(h.Faults, fits), (*Fault).Active)...)
}

// AnyFault is while any fault is active at any member, FaultAt at one member. An aggregated server
// that misbehaves is no fault at a member: it keeps none from being ready, from its answers or from
// its work (AD-16, AD-22).
func (h *History) AnyFault() Signal {
	return h.FaultActive(func(f *Fault) bool { return f.Type != history.FaultBackend })
}

// FaultAt is while any fault is active at a member.
func (h *History) FaultAt(member string) Signal {
	return h.FaultActive(func(f *Fault) bool { return f.Member == member })
}

// FaultOn is while a fault keeps requests about a key from passing, at any member.
func (h *History) FaultOn(key string) Signal {
	return h.FaultActive(func(f *Fault) bool { return f.About(key) })
}

// Powerless is from a cut of a member's power until the member was seen to be back.
func (h *History) Powerless(member string) Signal {
	cuts := Where(h.Faults, func(f *Fault) bool { return f.Type == history.FaultPower && f.Member == member })
	return Or(Each(cuts, func(f *Fault) Signal {
		if f.Recovery == "" {
			return From(f.Injected)
		}
		return f.Active()
	})...)
}
