package explore

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/registry"
)

// state is what the steps so far have left behind, as far as it bears on what may follow.
type state struct {
	settings Settings
	target   Target
	// release of each member, and highest the newest release that any member has run: by
	// indexes of Target.Releases.
	release []int
	highest int
	// stopped and active are what steps have stopped and injected.
	stopped []disturbance
	active  []disturbance
	// names are those that steps have given, by what they name.
	names map[string][]string
	// mutating are the populations that writers change, pending the migrations that no step
	// has waited for, and away the backends that misbehave.
	mutating, pending, away []string
	// defined are the APIs that steps have registered, as <crd>/<group>.
	defined []string
	// namespaces are those of the populations that have one of their own.
	namespaces map[string]string
	// touched is of which members the last step has started, ended or frozen processes.
	touched disturbance
}

// disturbance is what a step does to members until another step takes it back.
type disturbance struct {
	selector, component, fault string
	// members are indexes; unknown is whether the selector means a member that only the run
	// knows, such as @leader.
	members []int
	unknown bool
	// broad is whether components do not run or are cut off. Under a disturbance that is not,
	// every member serves.
	broad bool
	// http is whether it counts the requests that it hits.
	http bool
	// policy is whether all API servers deny something meanwhile.
	policy bool
}

func newState(s Settings, t Target) *state {
	out := &state{settings: s, target: t, highest: s.Release, names: map[string][]string{}, namespaces: map[string]string{}}
	out.touched.unknown = true // all have just been started
	for range s.Members {
		out.release = append(out.release, s.Release)
	}
	if s.Backends {
		out.names["backend"] = []string{backendName}
	}
	return out
}

// members that a selector means; unknown is whether only the run knows them.
func (st *state) members(selector string) (members []int, unknown, ok bool) {
	all := make([]int, st.settings.Members)
	for i := range all {
		all[i] = i
	}
	switch selector {
	case "@all":
		return all, false, true
	case "@leader", "@triggered":
		return nil, true, true
	case "@followers":
		return nil, true, st.settings.Members > 1
	case "@coordinator":
		return nil, true, st.settings.Coordinated
	}
	n, err := strconv.Atoi(strings.TrimPrefix(selector, "@cp"))
	if err != nil || n < 1 || n > st.settings.Members {
		return nil, false, false
	}
	return []int{n - 1}, false, true
}

// disturbed is whether a disturbance may concern one of the members; with broad, whether a broad
// one may.
func (st *state) disturbed(members []int, unknown, broad bool) bool {
	for _, d := range slices.Concat(st.stopped, st.active) {
		if broad && !d.broad {
			continue
		}
		if unknown || d.unknown || slices.ContainsFunc(members, func(m int) bool { return slices.Contains(d.members, m) }) {
			return true
		}
	}
	return false
}

// touchedBy is of which members a gene starts, ends or freezes processes, whose phase a later step may
// wait for.
func (st *state) touchedBy(entry *registry.Entry, gene *Gene) (out disturbance) {
	if gene.Step == "heal" {
		at := slices.IndexFunc(st.active, func(d disturbance) bool { return d.broad && d.fault == text(gene, "fault") })
		if at >= 0 {
			out = st.active[at]
		}
		return out
	}
	if !effects[gene.Step].strikes && !effects[gene.Step].starts && !broad(gene) {
		return out
	}
	named := selectors(entry.Parameters, gene.Values)
	out.unknown = len(named) == 0
	for _, selector := range named {
		members, unknown, _ := st.members(selector)
		out.members, out.unknown = append(out.members, members...), out.unknown || unknown
	}
	return out
}

// broad is whether a fault that the gene injects is.
func broad(gene *Gene) bool { return gene.Faults[text(gene, "fault")].Broad }

// quorum is whether one more member may be away until a step takes that back.
func (st *state) quorum() bool {
	if slices.ContainsFunc(slices.Concat(st.stopped, st.active), func(d disturbance) bool { return d.broad }) {
		return false
	}
	return st.settings.Members >= 3
}

// releaseIndex is the release that a name means for a member that runs current; ok is false if
// there is none.
func (st *state) releaseIndex(name string, current int) (index int, ok bool) {
	newest := len(st.target.Releases) - 1
	switch name {
	case "@next":
		index = current + 1
	case "@previous":
		index = current - 1
	case "@start":
		index = st.settings.Release
	case "@start+1":
		index = st.settings.Release + 1
	case "@start+2":
		index = st.settings.Release + 2
	case "@oldest":
		index = 0
	case "@newest":
		index = newest
	default:
		index = slices.Index(st.target.Releases, name)
	}
	return index, index >= 0 && index <= newest
}

// maxSkew is by how many releases members may differ, and how far one may go back behind the
// newest that any member has run: what Kubernetes supports.
const maxSkew = 1

// runnable is whether members may run these releases after another.
func (st *state) runnable(releases []int) bool {
	least, most := slices.Min(releases), slices.Max(releases)
	return most-least <= maxSkew && least >= max(st.highest, most)-maxSkew
}

// selectors are those of a gene's values, by the parameters that are members.
func selectors(parameters []registry.Parameter, values registry.Values) (out []string) {
	for _, p := range parameters {
		value, given := values[p.Name]
		if !given {
			continue
		}
		for _, one := range list(p.Domain, value) {
			switch p.Domain.Type {
			case registry.Member:
				out = append(out, one.(string))
			case registry.Group:
				out = append(out, selectors(p.Domain.Fields, one.(registry.Values))...)
			default: // the others select no member
			}
		}
	}
	return out
}

// struck is at how many members a step is played one after the other, at least 1.
func (st *state) struck(entry *registry.Entry, gene *Gene) int {
	if !effects[gene.Step].strikes {
		return 1
	}
	n := 0
	for _, selector := range selectors(entry.Parameters, gene.Values) {
		members, unknown, _ := st.members(selector)
		switch {
		case selector == "@followers":
			n += st.settings.Members - 1
		case unknown:
			n++
		default:
			n += len(members)
		}
	}
	return max(n, 1)
}

// list are the values of a parameter, which may be one.
func list(d registry.Domain, value any) []any {
	if !d.Many {
		return []any{value}
	}
	if all, ok := value.([]any); ok {
		return all
	}
	return nil
}

// clone is a copy that steps can be tried on.
func (st *state) clone() *state {
	out := *st
	out.release = slices.Clone(st.release)
	out.stopped, out.active = slices.Clone(st.stopped), slices.Clone(st.active)
	out.mutating, out.pending, out.away, out.defined = slices.Clone(st.mutating), slices.Clone(st.pending), slices.Clone(st.away), slices.Clone(st.defined)
	out.namespaces = maps.Clone(st.namespaces)
	out.names = maps.Clone(st.names)
	for what, names := range out.names {
		out.names[what] = slices.Clone(names)
	}
	return &out
}
