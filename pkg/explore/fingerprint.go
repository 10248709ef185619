package explore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Fingerprint tells finds apart: the requirement that is broken, the kind of breach, and the role
// of the member that broke it.
type Fingerprint struct {
	Requirement string `json:"requirement"`
	Kind        string `json:"kind"`
	Role        string `json:"role,omitempty"`
}

// Find is the first breach with a fingerprint in a run.
type Find struct {
	Fingerprint Fingerprint `json:"fingerprint"`
	Message     string      `json:"message"`
}

func (f Fingerprint) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Requirement, f.Kind, f.Role))
}

// Folder is a name for a folder of the finds with the fingerprint.
func (f Fingerprint) Folder() string {
	sum := sha256.Sum256([]byte(f.String()))
	return strings.ToLower(f.Requirement) + "-" + hex.EncodeToString(sum[:4])
}

// findsOf are the breaches of a result, one for each fingerprint.
func findsOf(r *check.Result, entries []law.Entry, states *states) (out []Find) {
	entries = breached(entries)
	for _, violation := range r.Violations {
		f := Find{Fingerprint: Fingerprint{Requirement: string(r.ID)}, Message: violation.Message}
		at := slices.IndexFunc(entries, func(e law.Entry) bool { return e.Why == violation.Message })
		if at < 0 {
			f.Fingerprint.Kind = kindOfBreach(string(law.Broken), "", violation.Message, states)
		} else {
			e := entries[at]
			f.Fingerprint.Kind = kindOfBreach(string(e.Ending), e.Kind, e.Why, states)
			f.Fingerprint.Role = states.roleAt(e.Member, lastOf(e))
		}
		if !slices.ContainsFunc(out, func(one Find) bool { return one.Fingerprint == f.Fingerprint }) {
			out = append(out, f)
		}
	}
	return out
}

// lastOf is the number of the last event that shows an obligation.
func lastOf(e law.Entry) int64 {
	return slices.Max(append(slices.Clone(e.Evidence), e.Began.Seq))
}

// What differs from one run to the next in a sentence about the same kind of breach.
var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	numbers  = regexp.MustCompile(`[0-9][0-9a-zµ.:+-]*`)
	names    = regexp.MustCompile(`[^\s,;()]*[/_.#][^\s,;()]*`)
	spaces   = regexp.MustCompile(`\s+`)
	lists    = regexp.MustCompile(`(#|@)(,? (and )?(#|@))+`)
	maxWords = 14
)

// anyOf matches one of some names as a whole word; nil where there are none. One name may begin
// another one, which is tried before it.
func anyOf(names []string) *regexp.Regexp {
	var quoted []string
	for _, name := range names {
		if name != "" {
			quoted = append(quoted, regexp.QuoteMeta(name))
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	slices.SortFunc(quoted, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return regexp.MustCompile(`\b(` + strings.Join(slices.Compact(quoted), "|") + `)\b`)
}

// kindOfBreach is the kind that a law names, or what its sentence says without names and numbers.
func kindOfBreach(ending, kind, why string, states *states) string {
	if kind != "" {
		return ending + ": " + kind
	}
	if states.run != "" {
		// The names of objects begin with that of the run.
		why = regexp.MustCompile(regexp.QuoteMeta(states.run)+`[^\s,;()]*`).ReplaceAllString(why, "#")
	}
	if states.named != nil {
		why = states.named.ReplaceAllString(why, "@")
	}
	why = quoted.ReplaceAllString(why, "#")
	why = names.ReplaceAllString(why, "#")
	why = numbers.ReplaceAllString(why, "#")
	why = lists.ReplaceAllString(why, "#")
	words := strings.Fields(spaces.ReplaceAllString(why, " "))
	return ending + ": " + strings.Join(words[:min(len(words), maxWords)], " ")
}
