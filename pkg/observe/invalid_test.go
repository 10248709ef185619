package observe

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const twoServers = `{"metadata":{"name":"core.pods","resourceVersion":"7"},"status":{"commonEncodingVersion":"v1",
"conditions":[{"type":"AllEncodingVersionsEqual","status":"True","reason":"R","message":"M"}],
"storageVersions":[{"apiServerID":"a","encodingVersion":"v1","decodableVersions":["v1"]},{"apiServerID":"b","encodingVersion":"v1","decodableVersions":["v1"]}]}}`

// flaws says what is wrong with a status, as a server would see it.
func flaws(status apiserverinternalv1alpha1.StorageVersionStatus) []string {
	var found []string
	seen := map[string]bool{}
	for _, entry := range status.StorageVersions {
		if !slices.Contains(entry.DecodableVersions, entry.EncodingVersion) {
			found = append(found, history.InvalidUndecodable)
		}
		if seen[entry.APIServerID] {
			found = append(found, history.InvalidDuplicate)
		}
		seen[entry.APIServerID] = true
	}
	common := commonOf(status.StorageVersions)
	if (common == nil) != (status.CommonEncodingVersion == nil) || (common != nil && *common != *status.CommonEncodingVersion) {
		found = append(found, history.InvalidAgreement)
	}
	return found
}

func TestEachInvalidStatusHasOneFlaw(t *testing.T) {
	var sent []string
	conflicts := 1
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+storageVersionsPath, reply(200, `{"items":[{"metadata":{"name":"empty"}},`+twoServers+`]}`))
	mux.HandleFunc("GET "+storageVersionsPath+"/core.pods", reply(200, twoServers))
	mux.HandleFunc("PUT "+storageVersionsPath+"/core.pods/status", func(w http.ResponseWriter, r *http.Request) {
		var object apiserverinternalv1alpha1.StorageVersion
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil || r.URL.Query().Get("dryRun") != "All" || object.ResourceVersion != "7" {
			t.Errorf("sent %+v (%v) to %s", object, err, r.URL)
		}
		if conflicts > 0 {
			conflicts--
			reply(409, "{}")(w, r)
			return
		}
		found := flaws(object.Status)
		if len(found) > 1 {
			t.Errorf("one status has the flaws %v", found)
		}
		sent = append(sent, append(found, "")[0])
		reply(200, "{}")(w, r)
	})
	m := newMemory()
	ProbeInvalidStatus(t.Context(), dial(t, serve(t, mux), m), 5)
	if want := []string{"", history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	requests := m.of(history.KindRequest)
	if len(requests) != 5 || requests[0].Request.Code != 409 || requests[2].Request.Invalid != history.InvalidUndecodable || requests[2].Request.Class != history.ClassInvalid {
		t.Errorf("recorded %d requests", len(requests))
	}
}

func TestSpoilASingleServer(t *testing.T) {
	for _, flaw := range []string{history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate} {
		common := "v1"
		status := apiserverinternalv1alpha1.StorageVersionStatus{
			StorageVersions:       []apiserverinternalv1alpha1.ServerStorageVersion{{APIServerID: "a", EncodingVersion: "v1", DecodableVersions: []string{"v1"}}},
			CommonEncodingVersion: &common,
		}
		spoil(&status, flaw)
		if found := flaws(status); !slices.Equal(found, []string{flaw}) {
			t.Errorf("%s gives %v", flaw, found)
		}
	}
}
