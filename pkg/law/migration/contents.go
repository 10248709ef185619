package migration

// sameForms are the built-in resources, of those that the harness writes, whose versions
// have the same fields. All custom resources that it defines have.
var sameForms = map[Resource]bool{{"storage.k8s.io", "volumeattributesclasses"}: true}

// contents matches what objects hold, by the digest of it, before and after a migration
// stores them in another version. The forms of two versions may differ, and only the API
// server knows how the one becomes the other; but objects that held the same hold the
// same afterwards, and those that held something else, something else.
type contents struct {
	// same is whether the versions of the resource have the same fields.
	same         bool
	became, came map[storedForm]transition
}

type storedForm struct {
	from, to int32
	content  uint64
}

// transition is what a content became, or came of, and the object that showed it.
type transition struct {
	content uint64
	name    string
}

func newContents(same bool) *contents {
	return &contents{same: same, became: map[storedForm]transition{}, came: map[storedForm]transition{}}
}

// weigh says what is wrong with the content after a write that only a migrator can have
// made, empty if nothing is; and whether it shows for the first time what a content becomes.
func (c *contents) weigh(t *Touch) (wrong string, learned bool) {
	before, now := t.Before, t.Change
	switch {
	case before.Content == 0 || now.Content == 0:
		return "", false
	case (before.version == now.version || c.same) && before.Content != now.Content:
		return "content is", false
	case before.version == now.version:
		return "", false // nothing can be learned of it
	}
	forth, back := storedForm{before.version, now.version, before.Content}, storedForm{before.version, now.version, now.Content}
	became, known := c.became[forth]
	if known && became.content != now.Content {
		return "content (which " + became.name + " had too, and was left with another one) is", false
	}
	if came, ok := c.came[back]; ok && came.content != before.Content {
		return "content (now that of " + came.name + ", from which it had differed) is", false
	}
	c.became[forth], c.came[back] = transition{now.Content, now.Object.Name}, transition{before.Content, now.Object.Name}
	return "", !known
}
