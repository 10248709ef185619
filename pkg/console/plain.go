package console

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// processNumbers are the numbers by which the proof of a fault names processes. The history
// keeps them: they prove which process it was. A user who follows a run learns nothing from
// them.
var processNumbers = regexp.MustCompile(`( \(|: )pid \d+, started at tick \d+(?: before, pid \d+, started at tick \d+ after)?\)?`)

// plain is the proof of a fault without the numbers of processes.
func plain(proof string) string { return processNumbers.ReplaceAllString(proof, "") }

// missed says that a recorder may have missed something. An etcd that the run may not read
// at all was not missed: the laws that need it are left out.
func missed(header history.Header, m *history.RecorderMissed) string {
	why, unread := header.Lack(history.LackEtcd)
	if !unread || m.Source != history.SourceEtcd {
		return fmt.Sprintf("the %s recorder may have missed something: %s", m.Source, m.Message)
	}
	var without []string
	for _, id := range header.Judges {
		if check.Reads(requirement.ID(id), fact.Etcd) {
			without = append(without, id)
		}
	}
	words := "etcd is not read, since " + why
	if len(without) == 0 {
		return words + "; the scenario lists no requirement that needs it"
	}
	return fmt.Sprintf("%s; this leaves out %s", words, strings.Join(without, ", "))
}
