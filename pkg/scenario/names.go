package scenario

import "fmt"

// names are those that steps have given so far, by what they name.
type names struct{ all map[string]map[string]bool }

// of are the names of one thing.
func (n *names) of(what string) map[string]bool {
	if n.all == nil {
		n.all = map[string]map[string]bool{}
	}
	if n.all[what] == nil {
		n.all[what] = map[string]bool{}
	}
	return n.all[what]
}

// need says which of the names no earlier step has given.
func (n *names) need(what string, needed ...string) error {
	for _, name := range needed {
		if name != "" && !n.of(what)[name] {
			return fmt.Errorf("no earlier step makes a %s %q", what, name)
		}
	}
	return nil
}

// make gives a name, which no earlier step may have given.
func (n *names) make(what, name string) error {
	if n.of(what)[name] {
		return fmt.Errorf("the name %q is taken by an earlier %s", name, what)
	}
	n.of(what)[name] = true
	return nil
}
