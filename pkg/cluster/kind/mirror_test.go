//go:build linux

package kind

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMirrors(t *testing.T) {
	begun := time.Date(2026, 11, 1, 12, 0, 0, 700_000_000, time.UTC)
	running := func(since time.Time) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}}}}
	}
	for _, tc := range []struct {
		name, complains string
		statuses        []corev1.ContainerStatus
		since           time.Time
	}{
		{"nothing told", "names no container", nil, time.Time{}},
		{"waiting", "said not to run", []corev1.ContainerStatus{{}}, time.Time{}},
		{"running", "", running(begun), time.Time{}},
		{"running since the same second", "", running(begun.Truncate(time.Second)), begun},
		{"from before the node had its power again", "since 2026-11-01T11:59:59Z", running(begun.Truncate(time.Second).Add(-time.Second)), begun},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := mirrors(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: tc.statuses}}, tc.since)
			if (err == nil) != (tc.complains == "") || err != nil && !strings.Contains(err.Error(), tc.complains) {
				t.Errorf("%v, want %q", err, tc.complains)
			}
		})
	}
}
