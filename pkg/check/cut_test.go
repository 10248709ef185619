package check

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// A run that is killed leaves a history that ends anywhere, also between what etcd tells and the
// answer to the request that explains it. None may accuse a sound control plane.
func TestJudge_NoCutMakesAStoryFail(t *testing.T) {
	for _, s := range tellings() {
		if s.Want == story.Fail {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			events := s.Events()
			for at := 1; at < len(events)-1; at++ {
				if verdictOf(s, events[:at]) == Fail {
					t.Errorf("fails, cut after event %d of %d", at, len(events))
				}
			}
		})
	}
}
