package discovery

import (
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
)

// Paths of the two documents.
const (
	corePath   = "/api"
	groupsPath = "/apis"
)

// plainVersion is the version of the documents that are not aggregated.
var plainVersion = schema.GroupVersion{Version: "v1"}

var plainCodecs = serializer.NewCodecFactory(known)

// View is where a handler takes documents from.
type View interface {
	Document(Scope) *Document
}

// localView makes a Catalog a View.
type localView struct{ *Catalog }

func (v localView) Document(scope Scope) *Document {
	if scope == BuiltinOnly {
		return v.Builtin()
	}
	return v.Catalog.Document()
}

// Local is the view of a server that has no peers.
func Local(c *Catalog) View { return localView{c} }

// Handler serves discovery: /api and /apis in every form, and /apis/<group>.
type Handler struct {
	core, groups View
	// offered are the versions of the aggregated document.
	offered []string
	// next serves everything else, and /api in the form that is not aggregated.
	next http.Handler
	// The aggregated answers, counted like all other requests.
	aggregatedCore, aggregatedGroups http.HandlerFunc
}

// NewHandler returns a handler that serves discovery, and passes other requests to the
// next handler. It offers the given versions of the aggregated document.
func NewHandler(core, groups View, offered []string, next http.Handler) *Handler {
	h := &Handler{core: core, groups: groups, offered: offered, next: next}
	h.aggregatedCore = counted("api", h.serve(core))
	h.aggregatedGroups = counted("apis", h.serve(groups))
	return h
}

// counted makes requests show in the metrics that all API requests show in.
func counted(path string, handler http.HandlerFunc) http.HandlerFunc {
	return metrics.InstrumentHandlerFunc(request.MethodGet, "", "", "", path, "", metrics.APIServerComponent, false, "", handler)
}

// ServeHTTP answers what is discovery of groups, and passes on the rest,
// discovery of single group-versions among it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.next.ServeHTTP(w, r)
		return
	}
	path := r.URL.Path
	group, below := strings.CutPrefix(strings.TrimSuffix(path, "/"), groupsPath+"/")
	switch {
	case path == corePath:
		h.negotiate(w, r, h.offered, h.aggregatedCore, h.next.ServeHTTP)
	case path == groupsPath:
		h.negotiate(w, r, h.offered, h.aggregatedGroups, h.serveGroups)
	case path == groupsPath+"/":
		h.negotiate(w, r, nil, nil, h.serveGroups)
	case below && group != "" && !strings.Contains(group, "/"):
		h.negotiate(w, r, nil, nil, func(w http.ResponseWriter, r *http.Request) { h.serveGroup(w, r, group) })
	default:
		h.next.ServeHTTP(w, r)
	}
}

// negotiate serves the form that the client wants, or says that there is none.
func (h *Handler) negotiate(w http.ResponseWriter, r *http.Request, offered []string, aggregated, plain http.HandlerFunc) {
	w.Header().Add("Vary", "Accept")
	form, ok := Negotiate(r.Header.Values("Accept"), offered)
	switch {
	case !ok:
		refuse(w, offered)
	case form.Aggregated():
		aggregated(w, r)
	default:
		// The code that writes the answer must choose the same media type.
		r = r.Clone(r.Context())
		r.Header.Set("Accept", form.MediaType)
		plain(w, r)
	}
}

// refuse answers a client that accepts none of the served forms.
func refuse(w http.ResponseWriter, offered []string) {
	var forms []string
	for _, version := range append([]string{""}, offered...) {
		for _, mediaType := range mediaTypes {
			forms = append(forms, Form{Version: version, MediaType: mediaType}.ContentType())
		}
	}
	status := responsewriters.ErrorToAPIStatus(negotiation.NewNotAcceptableError(forms))
	responsewriters.WriteRawJSON(int(status.Code), status, w)
}

// serve answers with the aggregated document of a view.
func (h *Handler) serve(view View) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The form was found to be acceptable before.
		form, _ := Negotiate(r.Header.Values("Accept"), h.offered)
		if form.Scope == WithoutPeers {
			localRequests.Inc()
		}
		write(w, r, view.Document(form.Scope), form)
	}
}

// write answers with a document in an aggregated form, or with 304 if the client
// has it already.
func write(w http.ResponseWriter, r *http.Request, document *Document, form Form) {
	header := w.Header()
	header.Add("Vary", "Accept-Encoding")
	header.Set("ETag", document.Tag())
	// All clients get the same document, so every cache may keep it. A cache must
	// revalidate it each time.
	header.Set("Cache-Control", "public, no-cache")
	if Unchanged(r.Header.Values("If-None-Match"), document.Tag()) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	gzipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	body, err := document.Bytes(form, gzipped)
	if err != nil {
		header.Del("ETag")
		header.Del("Cache-Control")
		responsewriters.InternalError(w, r, err)
		return
	}
	header.Set("Content-Type", form.ContentType())
	if gzipped {
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	// A write fails if the client has gone, which the server cannot report to it.
	_, _ = w.Write(body)
}

// The list that is not aggregated has the resources of this server alone: KEP-4020
// serves the union in the aggregated form only, to clients that can request less.
func (h *Handler) serveGroups(w http.ResponseWriter, r *http.Request) {
	writePlain(w, r, &metav1.APIGroupList{Groups: h.groups.Document(WithoutPeers).Plain()})
}

func (h *Handler) serveGroup(w http.ResponseWriter, r *http.Request, name string) {
	for _, group := range h.groups.Document(WithoutPeers).Plain() {
		if group.Name == name {
			writePlain(w, r, &group)
			return
		}
	}
	noSuchGroup.ServeHTTP(w, r)
}

// noSuchGroup answers that the group does not exist. While the server starts and does
// not know all groups yet, it asks the client to retry.
var noSuchGroup = notfoundhandler.New(plainCodecs, genericapifilters.NoMuxAndDiscoveryIncompleteKey)

func writePlain(w http.ResponseWriter, r *http.Request, document runtime.Object) {
	responsewriters.WriteObjectNegotiated(plainCodecs, negotiation.DefaultEndpointRestrictions, schema.GroupVersion{}, w, r, http.StatusOK, document, false)
}
