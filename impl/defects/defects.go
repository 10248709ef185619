// Package defects lists the bugs that can be planted on purpose in the
// reference control plane, so that a harness can show that it would notice
// them. A defect is named after the requirement it breaks and is switched on at
// lines marked "// defect: <ID>"; the code around such a line is the code that
// runs without it.
package defects

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// ID names a defect: the requirement it breaks, then what it does.
type ID string

// Component is a kind of process that a defect lives in.
type Component string

// The components that can carry a defect.
const (
	APIServer         Component = "apiserver"
	ControllerManager Component = "controller-manager"
	Etcd              Component = "etcd"
)

// Defect is one bug that can be planted.
type Defect struct {
	// ID is what the --defect flag takes.
	ID ID
	// Requirement is the row of the catalog that the defect breaks.
	Requirement string
	// Components are the processes that need the --defect flag. The flag has no
	// effect on other processes.
	Components []Component
	// Description says in one sentence what goes wrong.
	Description string
}

// Set is the defects that are switched on. The zero value has none.
type Set map[ID]struct{}

// Has reports whether the defect is switched on.
func (s Set) Has(id ID) bool {
	_, on := s[id]
	return on
}

// IDs returns the defects that are switched on, sorted.
func (s Set) IDs() []ID {
	ids := make([]ID, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// String lists the defects that are switched on, for logs.
func (s Set) String() string {
	ids := s.IDs()
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	return strings.Join(words, ",")
}

// Of returns the set of the given defects; it is meant for tests and panics on
// an ID that is not listed.
func Of(ids ...ID) Set {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	set, err := Parse(words)
	if err != nil {
		panic(err)
	}
	return set
}

// All returns every defect there is, ordered by ID.
func All() []Defect {
	all := slices.Clone(catalog)
	for i := range all {
		all[i].Components = slices.Clone(all[i].Components)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	return all
}

// Parse turns the values of a flag into a Set. Each value may hold several IDs
// separated by commas; empty ones are passed over.
func Parse(values []string) (Set, error) {
	known := map[ID]bool{}
	for _, d := range catalog {
		known[d.ID] = true
	}
	set := Set{}
	for _, value := range values {
		for _, word := range strings.Split(value, ",") {
			word = strings.TrimSpace(word)
			if word == "" {
				continue
			}
			if !known[ID(word)] {
				return nil, unknown(word)
			}
			set[ID(word)] = struct{}{}
		}
	}
	return set, nil
}

// unknown says that there is no such defect and names those that may have been
// meant: those of the same requirement, or else all of them.
func unknown(word string) error {
	var near, all []string
	for _, d := range All() {
		all = append(all, string(d.ID))
		if strings.HasPrefix(strings.ToUpper(word), d.Requirement) {
			near = append(near, string(d.ID))
		}
	}
	if len(near) > 0 {
		return fmt.Errorf("unknown defect %q; for that requirement there is: %s", word, strings.Join(near, ", "))
	}
	return fmt.Errorf("unknown defect %q; known are: %s", word, strings.Join(all, ", "))
}
