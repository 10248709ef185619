package check

import (
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Obligations are those of each requirement by everything observed so far, for callers that look
// at single ones. A requirement whose law panics has none.
func (j *Judging) Obligations() map[requirement.ID][]law.Entry {
	out := map[requirement.ID][]law.Entry{}
	for _, req := range j.requirements {
		if entries := j.obligations(req.ID); len(entries) > 0 {
			out[req.ID] = entries
		}
	}
	return out
}

func (j *Judging) obligations(id requirement.ID) (entries []law.Entry) {
	defer func() {
		if recover() != nil {
			entries = nil // the result of the requirement says so
		}
	}()
	if _, not := Inapplicable(id, j.account.header()); not || j.of[id] == nil {
		return nil
	}
	_, ledger := j.of[id].Judge(id)
	return ledger.Entries
}
