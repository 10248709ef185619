package discovery

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Hold is until when planted defects hold the document of all groups back.
type Hold struct{ until atomic.Int64 }

// For holds it back for a time.
func (h *Hold) For(d time.Duration) {
	if d > 0 {
		h.until.Store(time.Now().Add(d).UnixNano())
	}
}

func (h *Hold) holds() bool { return time.Now().UnixNano() < h.until.Load() }

// PlantHandler puts the defects of serving discovery around a handler that is sound: they
// change what it is asked, or what it answers.
func PlantHandler(next http.Handler, d defects.Set, hold *Hold) http.Handler {
	if len(d) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != corePath && r.URL.Path != groupsPath {
			next.ServeHTTP(w, r)
			return
		}
		if r.URL.Path == groupsPath && hold.holds() {
			http.Error(w, "held back", http.StatusServiceUnavailable) // defect: AD-15-gives-late, AD-22-holds-documents
			return
		}
		if r.URL.Path == groupsPath && fromLibraries(r) && d.Has(defects.AD29AsksAgain) {
			http.Redirect(w, r, groupsPath+"?again=true", http.StatusTemporaryRedirect) // defect: AD-29-asks-again
			return
		}
		asked := r.Clone(r.Context())
		plantAccept(asked.Header, d)
		form, _ := Negotiate(asked.Header.Values("Accept"), versions)
		if form.Aggregated() && d.Has(defects.AD21CountsReads) {
			aggregations.Inc() // defect: AD-21-counts-reads
		}
		salt := plantedSalt(form, d)
		plantCondition(asked.Header, salt, d)
		next.ServeHTTP(&plantedAnswer{ResponseWriter: w, defects: d, salt: salt, protobuf: falseProtobuf(asked.Header, d)}, asked)
	})
}

// plantAccept changes what a client accepts.
func plantAccept(header http.Header, d defects.Set) {
	accept := strings.Join(header.Values("Accept"), ",")
	options := parseAccept(accept)
	switch {
	case accept == "" && d.Has(defects.AD02AggregatedByDefault):
		header.Set("Accept", canonical.ContentType()+","+runtime.ContentTypeJSON) // defect: AD-02-aggregated-by-default
	case len(options) > 1 && plainIsAccepted(options) && d.Has(defects.AD29OneByOne):
		header.Set("Accept", runtime.ContentTypeJSON) // defect: AD-29-one-by-one
	case d.Has(defects.AD03AggregatedFirst):
		header.Set("Accept", strings.Join(append(convertingForms(options), accept), ",")) // defect: AD-03-aggregated-first
	case d.Has(defects.AD23LocalTellsAll):
		header.Set("Accept", strings.ReplaceAll(accept, ";profile="+string(WithoutPeers), "")) // defect: AD-23-local-tells-all
	}
}

// fromLibraries is whether a request asks for what clients of the Kubernetes libraries do: the
// aggregated form in JSON, or else the plain one, within a timeout that they name.
func fromLibraries(r *http.Request) bool {
	return r.Header.Get("Accept") == canonical.ContentType()+","+runtime.ContentTypeJSON && r.URL.Query().Has("timeout")
}

func plainIsAccepted(options []option) bool {
	for _, o := range options {
		if !o.converts {
			return true
		}
	}
	return false
}

// convertingForms are the aggregated forms that are accepted, the dearest first.
func convertingForms(options []option) (forms []string) {
	for _, o := range byPreference(options) {
		if o.converts && o.supported(versions) {
			form := Form{Version: o.version, MediaType: o.mediaType}.ContentType()
			if o.scope != Everything {
				form += ";profile=" + string(o.scope)
			}
			forms = append(forms, form)
		}
	}
	return forms
}

// falseProtobuf has a client that asks for protobuf answered in JSON.
func falseProtobuf(header http.Header, d defects.Set) bool {
	accept := header.Get("Accept")
	if !d.Has(defects.AD01FalseProtobuf) || !strings.HasPrefix(accept, runtime.ContentTypeProtobuf+";") {
		return false
	}
	header.Set("Accept", strings.ReplaceAll(accept, runtime.ContentTypeProtobuf, runtime.ContentTypeJSON)) // defect: AD-01-false-protobuf
	return true
}

// plantedSalt is what a tag has beside what names the content.
func plantedSalt(form Form, d defects.Set) string {
	switch {
	case d.Has(defects.AD07TagPerProcess):
		return "-" + strconv.Itoa(os.Getpid()) // defect: AD-07-tag-per-process
	case d.Has(defects.AD06TagPerEncoding):
		return "-" + form.MediaType[strings.Index(form.MediaType, "/")+1:] // defect: AD-06-tag-per-encoding
	}
	return ""
}

// plantCondition changes which document a client says that it has.
func plantCondition(header http.Header, salt string, d defects.Set) {
	values := header.Values("If-None-Match")
	condition := strings.Join(values, ",")
	switch {
	case condition == "":
	case d.Has(defects.AD08NeverUnchanged):
		header.Del("If-None-Match") // defect: AD-08-never-unchanged
	case d.Has(defects.AD08AlwaysUnchanged):
		header.Set("If-None-Match", "*") // defect: AD-08-always-unchanged
	case d.Has(defects.AD09LiteralTags) && (len(values) > 1 || !strings.HasPrefix(condition, `"`) || strings.Contains(condition, ",")):
		header.Del("If-None-Match") // defect: AD-09-literal-tags
	case salt != "":
		header.Set("If-None-Match", strings.ReplaceAll(condition, salt+`"`, `"`))
	}
}

// plantedAnswer changes an answer on its way.
type plantedAnswer struct {
	http.ResponseWriter
	defects  defects.Set
	salt     string
	protobuf bool
	bare     bool
}

// WriteHeader changes the headers.
func (a *plantedAnswer) WriteHeader(code int) {
	header := a.Header()
	if tag := header.Get("ETag"); tag != "" && a.salt != "" {
		header.Set("ETag", strings.TrimSuffix(tag, `"`)+a.salt+`"`)
	}
	if a.protobuf && code == http.StatusOK {
		header.Set("Content-Type", strings.Replace(header.Get("Content-Type"), runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, 1))
	}
	if a.bare = code == http.StatusNotAcceptable && a.defects.Has(defects.AD04BareRefusal); a.bare {
		header.Del("Content-Type") // defect: AD-04-bare-refusal
		header.Del("Content-Length")
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write leaves the body of a bare refusal out.
func (a *plantedAnswer) Write(body []byte) (int, error) {
	if a.bare {
		return len(body), nil
	}
	return a.ResponseWriter.Write(body)
}
