package emulation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// ev08: an API server refuses versions that it cannot emulate or be compatible with: it ends
// and says so (KEP-4330, "Component Flags": the binary exits and reports an invalid value). The
// last thing that it says has to be that, with the version. It does not see whether the server
// names the versions that it would take.
var ev08 = law.Each[*Facts, trial]{
	Row: law.Row{ID: "EV-08", Also: []string{history.LackEmulation}, Needs: []law.Need{
		{Name: "newer", Tag: "newer"}, {Name: "incompatible", Tag: "incompatible"}, {Name: "unsupported", Tag: "unsupported"},
	}},
	Over: func(f *Facts) []trial { return f.trials },
	End:  trial.refused,
}

// names fits what a program says of the versions, and aside what it says whatever becomes of
// it: information and warnings, what its flags are, and how it is used.
var (
	names = regexp.MustCompile(`(?i)emulat|compat`)
	aside = regexp.MustCompile(`^[IW]\d{4} |FLAG: --|^\s*-.* {3}|^Usage|^See .* --help|[Ff]lags:$`)
)

func (t trial) refused(law.Bounds) law.Entry {
	e, wrong := law.Of(t.Release, fact.Exactly(t.At, t.Seq)).By(t.member), wrongs(release.Parse(t.Release))
	what := fmt.Sprintf("the API server of %s was started as %s", t.member, t.Release)
	said, refuses := fact.Where(t.Log, func(line string) bool { return !aside.MatchString(line) }), func(line string) bool { return len(refusedBy(line, wrong)) > 0 }
	switch n := len(said); {
	case len(wrong) == 0:
		return law.Entry{}
	case t.Exit == "":
		return e.Unclear("%s, and had not ended when the harness ended it", what).Shown(t.Seq)
	case !strings.HasPrefix(t.Exit, "exit status ") || t.Exit == "exit status 0":
		return e.Broken("%s, and ended with %q, which tells of no failure", what, t.Exit).Shown(t.Seq).Alone()
	case len(t.Log) == 0:
		return e.Unclear("%s, and it is not known what it said", what).Shown(t.Seq)
	case n > 0 && refuses(said[n-1]):
		return e.Met(refusedBy(said[n-1], wrong)...)
	case slices.ContainsFunc(said, refuses):
		return e.Unclear("%s, and it is not clear whether it ended for that: %s", what, said[n-1]).Shown(t.Seq)
	}
	return e.Broken("%s, and ended without a word of the version: %s", what, t.Log[len(t.Log)-1]).Shown(t.Seq).Alone()
}

// wrong is what is wrong with a version, as a tag.
type wrong struct{ tag, version string }

// refusedBy are the tags of the versions that a line refuses: it says which, and of what.
func refusedBy(line string, all []wrong) (tags []string) {
	for _, w := range all {
		version := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(w.version) + `(\.0)?($|[^\d.]|\.(\D|$))`)
		if names.MatchString(line) && version.MatchString(line) && !slices.Contains(tags, w.tag) {
			tags = append(tags, w.tag)
		}
	}
	return tags
}

// wrongs are what is wrong with the versions of a release; none where it may be played.
func wrongs(played release.Played) (all []wrong) {
	binary, err := release.Minor(played.Binary)
	if err != nil {
		return nil
	}
	oldest, emulated := back(binary, emulatesBack()), cmp.Or(played.Emulated, binary)
	compatible := cmp.Or(played.Compatible, emulated)
	if release.Compare(emulated, binary) > 0 {
		all = append(all, wrong{"newer", emulated})
	}
	if release.Compare(compatible, emulated) > 0 {
		all = append(all, wrong{"incompatible", compatible})
	}
	for _, version := range []string{emulated, compatible} {
		if release.Compare(version, oldest) < 0 {
			all = append(all, wrong{"unsupported", version})
		}
	}
	return all
}
