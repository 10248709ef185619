package explore

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
)

// servesBeside is whether an API server is left that serves when those of a disturbance do not.
func (st *state) servesBeside(d disturbance) bool {
	all, _, _ := st.members("@all")
	if d.unknown {
		return d.selector == "@followers" && !st.disturbed(nil, true, true)
	}
	return slices.ContainsFunc(all, func(m int) bool { return !slices.Contains(d.members, m) && !st.disturbed([]int{m}, false, true) })
}

// mayPopulate is whether every member takes the objects, which the step creates through all of them
// and does not end before. Each namespace is that of one population, with which it is deleted.
func mayPopulate(st *state, gene *Gene) bool {
	writable := !st.disturbed(nil, true, true) && !slices.ContainsFunc(st.active, func(d disturbance) bool { return !d.http })
	namespace := text(gene, "namespace")
	for _, taken := range st.namespaces {
		writable = writable && taken != namespace
	}
	return writable
}

func afterPopulate(st *state, gene *Gene) {
	if namespace := text(gene, "namespace"); namespace != "" {
		st.namespaces[text(gene, "name")] = namespace
	}
}

// Beginnings of the keys that an API server writes before it is ready.
var startKeys = []string{"/registry/leases/kube-system/apiserver-", "/registry/storageversions/"}

// meetsStart is whether a fault holds, fails or denies what an API server writes before it is ready.
// Of a policy only the resource tells.
func meetsStart(f *fault.Fault) bool {
	switch one := f.Effect.(type) {
	case fault.KeyFault:
		return slices.ContainsFunc(one.Prefixes, func(prefix string) bool {
			return slices.ContainsFunc(startKeys, func(key string) bool {
				return strings.HasPrefix(prefix, key) || strings.HasPrefix(key, prefix)
			})
		})
	case *fault.Denial:
		return slices.Contains([]string{"leases", "storageversions"}, one.Resource)
	}
	return false
}

// letsStart is whether API servers can start under a fault that is healed only once they are ready.
func letsStart(f *fault.Fault) bool { return !meetsStart(f) }

// holdsStart is whether a fault holds what an API server writes as it joins.
func holdsStart(f *fault.Fault) bool {
	keys, ok := f.Effect.(fault.KeyFault)
	return ok && slices.Contains(keys.Requests, cluster.RequestTxn) && meetsStart(f)
}

// mayEmulate is whether the members' binaries can emulate the version.
func mayEmulate(st *state, gene *Gene) bool {
	var all []int
	for _, selector := range restarted(gene) {
		members, unknown, ok := st.members(selector)
		if unknown {
			members, _, ok = st.members("@all")
		}
		if !ok {
			return false
		}
		all = append(all, members...)
	}
	return st.emulable(all, st.release, text(gene, "version"), text(gene, "compatible"))
}

// emulable is whether members that get some releases can emulate a version: it is no newer than
// their binaries. The version that has to read what they store is one that they may go back to.
func (st *state) emulable(members, releases []int, version, compatible string) bool {
	for _, m := range members {
		emulated := releases[m]
		if version != "" {
			index, ok := st.releaseIndex(version, st.release[m])
			if !ok || index > emulated {
				return false
			}
			emulated = index
		}
		if compatible == "" {
			continue
		}
		reader, ok := st.releaseIndex(compatible, st.release[m])
		if !ok || reader > min(emulated, max(st.highest-maxSkew, 0)) {
			return false
		}
	}
	return true
}
