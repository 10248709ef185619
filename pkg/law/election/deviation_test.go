package election_test

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// A kube-apiserver's instances wait for a coordinator for ever, by design; the
// reference's may not.
func TestCLE20_LeavingALeaseUnclaimedIsADeviationOfKubernetes(t *testing.T) {
	data := string(story.Named(election.All(), "CLE-20/fail").File())
	kubernetes := strings.NewReplacer(`"distribution":"reference"`, `"distribution":"kubernetes"`, `"release":"1.2"`, `"release":"v1.35.4"`, `"release":"1.3"`, `"release":"v1.36.3"`)
	for _, tc := range []struct {
		name, told string
		want       check.Verdict
	}{
		{"the reference", data, check.Fail},
		{"Kubernetes", kubernetes.Replace(data), check.Deviation},
		{"Kubernetes, strictly", strings.Replace(kubernetes.Replace(data), `"seed":1,`, `"seed":1,"strict":true,`, 1), check.Fail},
		{"Kubernetes of no release that could be told", strings.ReplaceAll(kubernetes.Replace(data), "v1.3", "1.3"), check.Fail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := judgeFile(t, []byte(tc.told), "CLE-20"); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", r.Verdict, tc.want, r.Reasons, r.Violations)
			}
		})
	}
}
