package observe

import (
	"reflect"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestStoredElection(t *testing.T) {
	candidate := decodeStored([]byte(`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{"namespace":"kube-system","name":"a_1","annotations":{"evenkeel.dev/coordinator":"c"}},
		"spec":{"leaseName":"pilot","binaryVersion":"1.3.0","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion","pingTime":"2026-11-20T10:00:00.000001Z","renewTime":"2026-11-20T10:00:00.000002Z"}}`))
	at := time.Date(2026, 11, 20, 10, 0, 0, 1000, time.UTC)
	want := &history.Candidate{Lease: "pilot", Binary: "1.3.0", Emulation: "1.2.0", Strategy: "OldestEmulationVersion", Pinged: at, Renewed: at.Add(time.Microsecond), Coordinator: "c"}
	if candidate.name != "kube-system/a_1" || !reflect.DeepEqual(candidate.candidate, want) || !candidate.candidate.Answered() {
		t.Errorf("%+v", candidate.candidate)
	}

	lease := decodeStored([]byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"pilot"},"spec":{"strategy":"example.com/draft","preferredHolder":"b"}}`))
	if lease.lease == nil || lease.lease.Strategy != "example.com/draft" || lease.lease.Preferred != "b" {
		t.Errorf("%+v", lease.lease)
	}

	for body, want := range map[string]*history.LeaderAction{
		`{"lease":"kube-system/pilot","holder":"a_1","version":"1.2.0","term":3,"number":4}`: {Lease: "kube-system/pilot", Holder: "a_1", Version: "1.2.0", Term: 3, Number: 4},
		`{"lease":"kube-system/pilot","holder":"a_1","sent":"2026-01-02T03:04:05.6Z"}`:       {Lease: "kube-system/pilot", Holder: "a_1", Sent: time.Date(2026, 1, 2, 3, 4, 5, 6e8, time.UTC)},
		`{"lease":"kube-system/pilot"}`: nil,
		`nonsense`:                      nil,
		``:                              nil,
	} {
		if got := acted(map[string]string{LeaderActionAnnotation: body}); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", body, got)
		}
	}
}
