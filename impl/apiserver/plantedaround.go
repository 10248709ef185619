package apiserver

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/discovery"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// plantAround plants the defects that lie around a server that is sound.
func (s *server) plantAround() error {
	if err := s.plantWindow(); err != nil {
		return err
	}
	if s.options.Defects.Has(defects.SV26WrongHash) {
		s.inner = oneHash(s.inner) // defect: SV-26-wrong-hash
	}
	if s.options.Defects.Has(defects.SV27ReportsForOthers) {
		return s.aggregator.GenericAPIServer.AddPostStartHook("planted", func(hook genericapiserver.PostStartHookContext) error {
			go s.reportForOthers(hook)
			return nil
		})
	}
	return nil
}

// hashes are those in a document of a group-version.
var hashes = regexp.MustCompile(`"storageVersionHash":"[^"]*"`)

// oneHash gives all resources the same hash in the documents of group-versions.
func oneHash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !documentOfGroupVersion(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Accept-Encoding")
		answer := &held{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(answer, r)
		body := hashes.ReplaceAll(answer.body.Bytes(), []byte(`"storageVersionHash":"AAAAAAAAAAA="`))
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.code)
		_, _ = w.Write(body)
	})
}

// documentOfGroupVersion is whether a path is /api/<version> or /apis/<group>/<version>.
func documentOfGroupVersion(path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	return len(segments) == 2 && segments[0] == "api" || len(segments) == 3 && segments[0] == "apis"
}

// held is an answer that is not sent yet.
type held struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

// WriteHeader keeps the status.
func (h *held) WriteHeader(code int) { h.code = code }

// Write keeps a part of the body.
func (h *held) Write(part []byte) (int, error) { return h.body.Write(part) }

// reportInterval is how often a planted defect looks for resources of aggregated servers.
const reportInterval = time.Second

// reportForOthers has SV-27-reports-for-others publish what aggregated servers host.
func (s *server) reportForOthers(hook genericapiserver.PostStartHookContext) {
	for hook.Err() == nil {
		for _, entry := range s.catalogs.groups.Entries() {
			for _, resource := range entry.Version.Resources {
				if entry.Source != discovery.Remote {
					continue
				}
				version := entry.GroupVersion().String()
				_ = s.versions.Publish(hook, storageversion.Resource{
					Group: entry.Group, Resource: resource.Resource, Encoding: version, Decodable: []string{version}, Served: []string{version},
				}) // defect: SV-27-reports-for-others
			}
		}
		pause(hook, reportInterval)
	}
}
