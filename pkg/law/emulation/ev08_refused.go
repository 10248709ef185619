package emulation

import (
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
// and says so (KEP-4330, "Component Flags": the binary exits and reports an invalid value). It
// does not see whether the server names the versions that it would take.
var ev08 = law.Each[*Facts, trial]{
	Row: law.Row{ID: "EV-08", Also: []string{history.LackEmulation}, Needs: []law.Need{
		{Name: "newer", Tag: "newer"}, {Name: "incompatible", Tag: "incompatible"}, {Name: "unsupported", Tag: "unsupported"},
	}},
	Over: func(f *Facts) []trial { return f.trials },
	End:  trial.refused,
}

// names fits what a program says of the versions, and echoes what it says of all its flags,
// whatever becomes of it.
var (
	names  = regexp.MustCompile(`(?i)emulat|compat`)
	echoes = regexp.MustCompile(`FLAG: --`)
)

func saysWhy(line string) bool { return names.MatchString(line) && !echoes.MatchString(line) }

func (t trial) refused(law.Bounds) law.Entry {
	e, tags := law.Of(t.Release, fact.Exactly(t.At, t.Seq)).By(t.member), wrongs(release.Parse(t.Release))
	what := fmt.Sprintf("the API server of %s was started as %s", t.member, t.Release)
	switch {
	case len(tags) == 0:
		return law.Entry{}
	case t.Exit == "":
		return e.Unclear("%s, and had not ended when the harness ended it", what).Shown(t.Seq)
	case !strings.HasPrefix(t.Exit, "exit status ") || t.Exit == "exit status 0":
		return e.Broken("%s, and ended with %q, which tells of no failure", what, t.Exit).Shown(t.Seq).Alone()
	case len(t.Log) == 0:
		return e.Unclear("%s, and it is not known what it said", what).Shown(t.Seq)
	case !slices.ContainsFunc(t.Log, saysWhy):
		return e.Broken("%s, and ended without a word of the versions: %s", what, t.Log[len(t.Log)-1]).Shown(t.Seq).Alone()
	}
	return e.Met(tags...)
}

// wrongs are the tags of what is wrong with the versions of a release; none where it may be
// played.
func wrongs(played release.Played) (tags []string) {
	binary, err := release.Minor(played.Binary)
	if err != nil {
		return nil
	}
	oldest := back(binary, emulatesBack())
	emulated := binary
	if played.Emulated != "" {
		emulated = played.Emulated
	}
	compatible := emulated
	if played.Compatible != "" {
		compatible = played.Compatible
	}
	if release.Compare(emulated, binary) > 0 {
		tags = append(tags, "newer")
	}
	if release.Compare(compatible, emulated) > 0 {
		tags = append(tags, "incompatible")
	}
	if release.Compare(emulated, oldest) < 0 || release.Compare(compatible, oldest) < 0 {
		tags = append(tags, "unsupported")
	}
	return tags
}
