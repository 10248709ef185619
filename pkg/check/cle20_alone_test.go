package check

import (
	"strings"
	"testing"
)

// A kube-apiserver's instances wait for a coordinator for ever, by design; the
// reference's may not.
func TestLeavingALeaseUnclaimedIsADeviationOfKubernetes(t *testing.T) {
	data := string(storyFile("CLE-20/fail"))
	kubernetes := strings.NewReplacer(`"distribution":"reference"`, `"distribution":"kubernetes"`, `"release":"1.2"`, `"release":"v1.35.4"`, `"release":"1.3"`, `"release":"v1.36.3"`)
	for _, tc := range []struct {
		name, told string
		want       Verdict
	}{
		{"the reference", data, Fail},
		{"Kubernetes", kubernetes.Replace(data), Deviation},
		{"Kubernetes, strictly", strings.Replace(kubernetes.Replace(data), `"seed":1,`, `"seed":1,"strict":true,`, 1), Fail},
		{"Kubernetes of no release that could be told", strings.Replace(kubernetes.Replace(data), "v1.3", "1.3", -1), Fail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := judgeFile(t, []byte(tc.told), "CLE-20"); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", r.Verdict, tc.want, r.Reasons, r.Violations)
			}
		})
	}
}
