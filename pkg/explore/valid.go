package explore

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// take plays a gene in the state if it is valid there, and says whether it is.
func (st *state) take(g *Grammar, gene *Gene) bool {
	entry, err := g.step(gene.Step)
	if err != nil || !st.admits(g, entry, gene) {
		return false
	}
	note(st, entry.Parameters, gene.Values)
	st.touched = st.touchedBy(entry, gene)
	if after := effects[gene.Step].after; after != nil {
		after(st, gene)
	}
	return true
}

func (st *state) admits(g *Grammar, entry *registry.Entry, gene *Gene) bool {
	effect := effects[gene.Step]
	for _, selector := range selectors(entry.Parameters, gene.Values) {
		if gene.Step != "boot" && !st.selectable(selector, effect.strikes, gene.When != nil) {
			return false
		}
	}
	if !st.named(entry.Parameters, gene.Values, map[string]bool{}) || !st.canWait(gene) {
		return false
	}
	if effect.starts && slices.ContainsFunc(st.active, func(d disturbance) bool { return d.policy }) {
		return false
	}
	if effect.may != nil && !effect.may(st, gene) {
		return false
	}
	return g.Lacks(entry, gene.Values) == "" && entry.Check(gene.Values) == nil
}

// selectable is whether a step may be played at the members that a selector means.
func (st *state) selectable(selector string, strikes, triggered bool) bool {
	members, unknown, ok := st.members(selector)
	if !ok || selector == "@triggered" && !triggered {
		return false
	}
	// Under a broad disturbance a request may not be answered; one that only delays or fails
	// single requests keeps members from starting.
	return !st.disturbed(members, unknown, !strikes)
}

// named is whether the names that values have are known, or new.
func (st *state) named(parameters []registry.Parameter, values registry.Values, fresh map[string]bool) bool {
	for _, p := range parameters {
		value, given := values[p.Name]
		if !given {
			continue
		}
		for _, one := range list(p.Domain, value) {
			name, _ := one.(string)
			known := slices.Contains(st.names[p.Domain.What], name)
			switch p.Domain.Type {
			case registry.NewName:
				if known || fresh[name] {
					return false
				}
				fresh[name] = true
			case registry.KnownName:
				if !known {
					return false
				}
			case registry.Group:
				if group, ok := one.(registry.Values); !ok || !st.named(p.Domain.Fields, group, fresh) {
					return false
				}
			default: // the others name nothing
			}
		}
	}
	return true
}

// canWait is whether what a trigger refers to is there.
func (st *state) canWait(gene *Gene) bool {
	return gene.When == nil || st.mayCome(gene.When)
}

// mayCome is whether a state can come about that a trigger waits for.
func (st *state) mayCome(when *scenario.Trigger) bool {
	switch {
	case when.Migrated != nil:
		return slices.Contains(st.pending, when.Migrated.Migration)
	case when.Elected != "":
		return st.settings.Coordinated || when.Elected == plainLease
	case when.Member != nil:
		members, unknown, ok := st.members(when.Member.Name)
		return ok && !unknown && (st.touched.unknown || slices.Contains(st.touched.members, members[0]))
	case when.Write != nil:
		return st.mayWrite(when.Write)
	}
	return true
}

// plainLease is the one that has leaders in every control plane: API servers elect one that coordinates
// elections, and a scheduler may be there, only with coordination.
const plainLease = "kube-controller-manager"

// tellsMember is whether what a trigger is met by is at a member, which a step may be played at.
func tellsMember(when *scenario.Trigger) bool {
	if w := when.Write; w != nil {
		return !w.Deleted && (w.By != "" || strings.HasPrefix(w.Key, leaseKeys))
	}
	return when.Elected != "" || when.Member != nil
}

// leaseKeys begins the keys of Leases.
const leaseKeys = "/registry/leases/"

// always is whether a state is there from the boot on, so that no step waits for it.
func always(when *scenario.Trigger) bool {
	return strings.HasPrefix(when.Exists, leaseKeys) || when.Exists == "/registry/storageversions/" || when.Exists == "/registry/apiregistration.k8s.io/apiservices/"
}

// mayWrite is whether a write of a key can be one of whom a trigger waits for.
func (st *state) mayWrite(write *scenario.WriteTrigger) bool {
	lease := strings.HasPrefix(write.Key, leaseKeys)
	switch write.By {
	case "coordinator":
		return st.settings.Coordinated && (lease || strings.HasPrefix(write.Key, "/registry/leasecandidates/"))
	case "holder":
		return lease
	case "harness":
		return false // it writes none of these keys with a tag
	}
	return !write.Deleted || !lease
}

// note keeps the names that a step gives.
func note(st *state, parameters []registry.Parameter, values registry.Values) {
	for _, p := range parameters {
		value, given := values[p.Name]
		if !given {
			continue
		}
		for _, one := range list(p.Domain, value) {
			switch p.Domain.Type {
			case registry.NewName:
				name := one.(string)
				st.names[p.Domain.What] = append(st.names[p.Domain.What], name)
				if p.Domain.What == population && values["namespace"] != nil {
					st.names[separatePopulation] = append(st.names[separatePopulation], name)
				}
			case registry.Group:
				note(st, p.Domain.Fields, one.(registry.Values))
			default: // the others name nothing
			}
		}
	}
}

// A population that has a namespace of its own counts as a separate one too.
const (
	population         = "population"
	separatePopulation = "population with a namespace of its own"
)
