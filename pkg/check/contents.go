package check

// contents follows what objects hold, by the digest of it, from the version in which
// they were stored to the one in which a migration stores them. The forms of two
// versions may differ, and how one is made of the other only the API server knows; but
// objects that held the same hold the same afterwards, and those that held something
// else, something else. The contents that the harness writes differ in one field each,
// so the loss of a field makes two of them one.
type contents struct {
	became, cameOf map[storedForm]transition
	// known gives each digest once: many objects hold the same.
	known map[string]string
}

// storedForm is what objects of a resource hold, and the two versions of a transition.
type storedForm struct {
	gr                groupResource
	from, to, content string
}

// transition is what that was made of, or became, and the object of which that was seen.
type transition struct{ content, name string }

func newContents() contents {
	return contents{became: map[storedForm]transition{}, cameOf: map[storedForm]transition{}, known: map[string]string{}}
}

// kept is one and the same string for all objects that hold the same.
func (c *contents) kept(content string) string {
	if known, ok := c.known[content]; ok {
		return known
	}
	c.known[content] = content
	return content
}

// sameForms are the built-in resources, of those that the harness writes, whose
// versions have the same fields. Custom resources that it defines all have.
var sameForms = map[groupResource]bool{
	{"storage.k8s.io", "volumeattributesclasses"}: true,
}

// weigh says what is wrong with what an object holds after a write that only a
// migration can have made; empty if nothing is.
func (c *contents) weigh(t *objectTouch, same bool) (wrong string) {
	before, now := t.before, t.now
	switch {
	case before.content == "" || now.content == "":
		return ""
	case before.version == now.version || same:
		if before.content != now.content {
			return "content is"
		}
		if before.version == now.version {
			return "" // of which nothing can be learned
		}
	}
	forth := storedForm{t.gr, before.version, now.version, before.content}
	back := storedForm{t.gr, before.version, now.version, now.content}
	if first, ok := c.became[forth]; ok && first.content != now.content {
		return "content (which " + first.name + " had too, and was left with another one) is"
	}
	if first, ok := c.cameOf[back]; ok && first.content != before.content {
		return "content (now that of " + first.name + ", from which it had differed) is"
	}
	c.became[forth] = transition{now.content, now.name}
	c.cameOf[back] = transition{before.content, now.name}
	return ""
}

// told is how many contents of one resource were told from each other before and
// after, at best.
func (c *contents) told() int64 {
	count := map[storedForm]int64{}
	var most int64
	for f := range c.became {
		f.content = ""
		count[f]++
		most = max(most, count[f])
	}
	return most
}
