package faultybackend

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// healthy is what a server does that nothing is wrong with.
const healthy = ""

// Behaviors returns the names of all misbehaviors of a server, as pkg/history has them.
func Behaviors() []string {
	return []string{
		history.BackendRefuse, history.BackendHang, history.BackendUnavailable, history.BackendReset, history.BackendGarbage,
		history.BackendWrongGroups, history.BackendNotModified, history.BackendSlowBody, history.BackendHuge,
	}
}

// misbehave answers a request in a way that is not healthy. It returns when the
// request is over, or when the server is told to do something else.
func (s *Server) misbehave(behavior string, changed <-chan struct{}, w http.ResponseWriter, r *http.Request) {
	switch behavior {
	case history.BackendHang:
		select {
		case <-r.Context().Done():
		case <-changed:
		}
		panic(http.ErrAbortHandler)
	case history.BackendUnavailable:
		http.Error(w, "the service is unavailable", http.StatusServiceUnavailable)
	case notFound:
		http.Error(w, "this server has nothing here", http.StatusNotFound)
	case fails:
		http.Error(w, "this server fails", http.StatusInternalServerError)
	case history.BackendNotModified:
		w.WriteHeader(http.StatusNotModified)
	case history.BackendGarbage:
		w.Header().Set("Content-Type", aggregatedType)
		_, _ = w.Write([]byte(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":7},"versions":"` + "\x00"))
	case history.BackendWrongGroups:
		w.Header().Set("Content-Type", aggregatedType)
		_, _ = w.Write([]byte(foreign(s.group)))
	case history.BackendSlowBody:
		s.slowBody(changed, w, r)
	case history.BackendHuge:
		w.Header().Set("Content-Type", aggregatedType)
		_, _ = w.Write([]byte(huge(s.group)))
	default: // history.BackendReset
		panic(http.ErrAbortHandler)
	}
}

// slowBody writes a document a byte at a time.
func (s *Server) slowBody(changed <-chan struct{}, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", aggregatedType)
	out := http.NewResponseController(w)
	for _, b := range []byte(document(s.group, []resource{tides})) {
		if _, err := w.Write([]byte{b}); err != nil || out.Flush() != nil {
			return
		}
		timer := time.NewTimer(dripInterval)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
			panic(http.ErrAbortHandler)
		}
	}
}

// aggregatedType announces an aggregated document.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// document is the healthy one of a group.
// document is the aggregated document of what a server hosts.
func document(group string, hosts []resource) string {
	return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[` + groupDocument(group, hosts) + `]}`
}

func groupDocument(group string, hosts []resource) string {
	var versions []string
	for _, version := range Versions {
		var resources []string
		for _, one := range hosts {
			resources = append(resources, resourceDocument(group, version, one))
		}
		versions = append(versions, `{"version":"`+version+`","freshness":"Current","resources":[`+strings.Join(resources, ",")+`]}`)
	}
	return `{"metadata":{"name":` + strconv.Quote(group) + `},"versions":[` + strings.Join(versions, ",") + `]}`
}

func resourceDocument(group, version string, one resource) string {
	return `{"resource":` + strconv.Quote(one.plural) + `,"responseKind":{"group":` + strconv.Quote(group) + `,"version":"` + version + `","kind":"` + one.kind +
		`"},"scope":"Namespaced","singularResource":"` + one.singular + `","verbs":["get","list"],"shortNames":["` + one.shortName + `"]}`
}

// foreign returns a document that lists the server's own group, groups of other servers,
// resources without a kind, and empty entries.
func foreign(group string) string {
	null := `{"metadata":{"name":` + strconv.Quote(group) + `},"versions":[{"version":"` + Version + `","freshness":"Current","resources":[` +
		`{"resource":"` + Resource + `","responseKind":null,"scope":"Namespaced","singularResource":"","verbs":null,"subresources":[{"subresource":"status","responseKind":null,"verbs":null}]},` +
		`{"resource":"","responseKind":null,"scope":"","verbs":null}]},{"version":"","resources":null}]}`
	others := []string{null}
	for _, other := range Claimed {
		others = append(others, groupDocument(other, []resource{tides}))
	}
	return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[` + strings.Join(others, ",") + `]}`
}

// Claimed are the groups that a foreign document claims to host: some that every
// control plane hosts itself, and one that no server hosts.
var Claimed = []string{"", "coordination.k8s.io", "apiregistration.k8s.io", "unhosted.evenkeel.dev"}

// huge is a document of more than ten megabytes.
func huge(group string) string {
	var resources []string
	for i := range hugeSize/len(resourceDocument(group, Version, tides)) + 1 {
		one := tides
		one.plural += strconv.Itoa(i)
		resources = append(resources, resourceDocument(group, Version, one))
	}
	return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":` + strconv.Quote(group) +
		`},"versions":[{"version":"` + Version + `","freshness":"Current","resources":[` + strings.Join(resources, ",") + `]}]}]}`
}
