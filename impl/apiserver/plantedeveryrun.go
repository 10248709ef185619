package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

const (
	// stoodStill is for how long /readyz is not asked of a process that does not run.
	stoodStill = 3 * time.Second
	// dropsOneIn and dropsOneInMany are which updates RO-08 drops, dropsDeletionIn which deletions.
	dropsOneIn, dropsOneInMany, dropsDeletionIn = 20, 100, 10
	// hidesAtFirst and hidesBriefly are for how long RO-09 hides custom resources.
	hidesAtFirst, hidesBriefly = 5 * time.Second, time.Second
	// refusesLong is for how long RO-11-refuses-long refuses reads.
	refusesLong = 30 * time.Second
	// readyFor and unreadyFor are for how long /readyz of RO-02-flaps answers what.
	readyFor, unreadyFor = 35 * time.Second, 30 * time.Second
)

// plantedHandler has the defects of what every run owes that are seen in the answers of
// an API server.
type plantedHandler struct {
	next    http.Handler
	defects defects.Set
	clock   clock.WithTicker
	// third is whether it is the API server of the third member.
	third bool
	// custom is whether a resource is a custom one.
	custom func(group, resource string) bool

	mu sync.Mutex
	// ready is when /readyz first answered 200, and fell when it did not any more, or was
	// not even asked, because the process stood still; asked is when it was asked last.
	ready, fell, asked time.Time
	// again is when it would have answered 200 again.
	again time.Time
	// updates and deletions count those of ConfigMaps, and first has the first answers to lists.
	updates, deletions int
	first              map[string]*answer
	// joined is when another API server started last.
	joined time.Time
}

// plantEveryRun puts the planted defects in front of a handler; without any it gives the
// handler itself.
func (s *server) plantEveryRun(next http.Handler) http.Handler {
	d := s.options.Defects
	if !slices.ContainsFunc(d.IDs(), func(id defects.ID) bool { return strings.HasPrefix(string(id), "RO-") || id == defects.SVM25ShowsLate }) {
		return next
	}
	p := &plantedHandler{next: next, defects: d, clock: clock.RealClock{}, third: strings.HasSuffix(s.options.ServerID, "3"), first: map[string]*answer{}}
	definitions := s.extension.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister()
	p.custom = func(group, resource string) bool {
		_, err := definitions.Get(resource + "." + group)
		return err == nil
	}
	if p.refuses() > 0 {
		// Adding a handler fails only once an informer was stopped.
		_ = p.followServers(s.config.SharedInformerFactory.Coordination().V1().Leases().Informer(), s.options.ServerID)
	}
	return p
}

func (p *plantedHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, _ := genericapirequest.RequestInfoFrom(r.Context())
	switch {
	case r.URL.Path == "/readyz":
		p.readyz(w, r)
	case p.third && p.defects.Has(defects.RO01ServesLess) && strings.HasPrefix(r.URL.Path+"/", "/apis/"+release.Group+"/"):
		http.Error(w, "404 page not found", http.StatusNotFound) // defect: RO-01-serves-less
	case info == nil || !info.IsResourceRequest:
		p.next.ServeHTTP(w, r)
	case p.since(p.readySince()) < p.hides() && p.custom(info.APIGroup, info.Resource):
		http.Error(w, "404 page not found", http.StatusNotFound)
	case info.APIGroup == "" && info.Resource == "namespaces" && r.Method == http.MethodGet && p.since(p.joinedAt()) < p.refuses():
		http.Error(w, "no longer, or not yet", http.StatusServiceUnavailable)
	case info.Verb == "watch" && info.Resource == "storageversionmigrations" && p.defects.Has(defects.SVM25ShowsLate) && !byComponent(r):
		p.late(w, r, defects.SVM25ShowsLate) // defect: SVM-25-shows-late
	case info.APIGroup == "" && info.Resource == "configmaps" && info.Subresource == "":
		p.configMaps(w, r, info)
	default:
		p.next.ServeHTTP(w, r)
	}
}

func (p *plantedHandler) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 1<<63 - 1
	}
	return p.clock.Since(t)
}

func (p *plantedHandler) readySince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready
}

func (p *plantedHandler) joinedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.joined
}

func (p *plantedHandler) hides() time.Duration {
	switch {
	case p.defects.Has(defects.RO09NotFoundAtFirst):
		return hidesAtFirst // defect: RO-09-not-found-at-first
	case p.defects.Has(defects.RO09NotFoundBriefly):
		return hidesBriefly // defect: RO-09-not-found-briefly
	}
	return 0
}

func (p *plantedHandler) refuses() time.Duration {
	switch {
	case p.defects.Has(defects.RO11RefusesLong):
		return refusesLong // defect: RO-11-refuses-long
	case p.defects.Has(defects.RO11Refuses):
		return p.defects.Delay(defects.RO11Refuses) // defect: RO-11-refuses
	}
	return 0
}

// readyz notes when the server is ready and when it is not any more.
func (p *plantedHandler) readyz(w http.ResponseWriter, r *http.Request) {
	a := p.answer(r)
	p.mu.Lock()
	now := p.clock.Now()
	if !p.ready.IsZero() && now.Sub(p.asked) > stoodStill {
		p.fell, p.again = now, time.Time{}
	}
	p.asked = now
	switch {
	case a.code == http.StatusOK && p.ready.IsZero():
		p.ready, p.joined = now, now
	case a.code != http.StatusOK && !p.ready.IsZero():
		p.fell, p.again = now, time.Time{}
	case a.code == http.StatusOK && !p.fell.IsZero() && p.again.IsZero():
		p.again = now
	}
	late := !p.again.IsZero() && (p.defects.Has(defects.RO02NeverAgain) || p.defects.Has(defects.RO02LateAgain) && now.Sub(p.again) < p.defects.Delay(defects.RO02LateAgain)) // defect: RO-02-never-ready-again, RO-02-late-ready-again
	flaps := p.third && p.defects.Has(defects.RO02Flaps) && !p.ready.IsZero() && now.Sub(p.ready)%(readyFor+unreadyFor) >= readyFor                                           // defect: RO-02-flaps
	p.mu.Unlock()
	if late || flaps {
		http.Error(w, "[-]planted failed: reason withheld\nreadyz check failed", http.StatusInternalServerError)
		return
	}
	a.write(w)
}

// configMaps serves a request for ConfigMaps.
func (p *plantedHandler) configMaps(w http.ResponseWriter, r *http.Request, info *genericapirequest.RequestInfo) {
	query := r.URL.Query()
	switch {
	case info.Verb == "watch" && p.defects.Has(defects.RO06LateWatches): // defect: RO-06-late-watches
		p.late(w, r, defects.RO06LateWatches)
	case info.Verb == "watch" && query.Get("sendInitialEvents") == "true" && p.defects.Has(defects.RO01StreamsLess) && !byComponent(r): // defect: RO-01-streams-less
		lacking := newLateWriter(w, p.clock, 0, r.Context().Done())
		lacking.loses = []byte(`"ADDED"`)
		plain := r.Clone(r.Context())
		plain.Header.Del("Accept-Encoding") // what is compressed cannot be searched
		p.next.ServeHTTP(lacking, plain)
		lacking.close()
	case info.Verb == "list" && query.Get("resourceVersionMatch") == "NotOlderThan" && p.defects.Has(defects.RO06OldLists): // defect: RO-06-old-lists
		p.firstAnswer(r).write(w)
	case info.Verb == "list" && query.Get("limit") != "" && p.defects.Has(defects.RO01ShortPages): // defect: RO-01-short-pages
		p.answer(r).without(func(objects []any) []any { return objects[:len(objects)-1] }).write(w)
	case info.Verb == "list" && query.Get("continue") != "" && p.defects.Has(defects.RO01SkipsBetweenPages): // defect: RO-01-skips-between-pages
		p.answer(r).without(func(objects []any) []any { return objects[1:] }).write(w)
	case info.Verb == "update" && p.drops(), info.Verb == "delete" && p.dropsDeletion():
		// Read the stored object and return it as if it were the result of the write.
		read := r.Clone(r.Context())
		read.Method, read.Body, read.ContentLength = http.MethodGet, http.NoBody, 0
		p.next.ServeHTTP(w, read)
	default:
		p.next.ServeHTTP(w, r)
	}
}

// late answers a watch as late as a defect says.
func (p *plantedHandler) late(w http.ResponseWriter, r *http.Request, id defects.ID) {
	late := newLateWriter(w, p.clock, p.defects.Delay(id), r.Context().Done())
	p.next.ServeHTTP(late, r)
	late.close()
}

// byComponent is whether a component of the control plane sent a request. With late watches
// its controllers would be late too, which other requirements are about.
func byComponent(r *http.Request) bool {
	user, known := genericapirequest.UserFrom(r.Context())
	return known && strings.HasPrefix(user.GetName(), "system:")
}

// drops is whether the update that arrived is dropped.
func (p *plantedHandler) drops() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.updates++
	return p.defects.Has(defects.RO08DropsWrites) && p.updates%dropsOneIn == 0 || // defect: RO-08-drops-writes
		p.defects.Has(defects.RO08DropsFewWrites) && p.updates%dropsOneInMany == 0 // defect: RO-08-drops-few-writes
}

// dropsDeletion is whether the deletion that arrived is dropped.
func (p *plantedHandler) dropsDeletion() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deletions++
	return p.defects.Has(defects.RO08DropsDeletions) && p.deletions%dropsDeletionIn == 0 // defect: RO-08-drops-deletions
}

// firstAnswer is the first answer to a list of the same objects.
func (p *plantedHandler) firstAnswer(r *http.Request) *answer {
	query := r.URL.Query()
	key := r.URL.Path + "?" + query.Get("fieldSelector") + "&" + query.Get("labelSelector") + "&" + r.Header.Get("Accept")
	p.mu.Lock()
	first := p.first[key]
	p.mu.Unlock()
	if first != nil {
		return first
	}
	a := p.answer(r)
	if a.code == http.StatusOK {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.first[key] = a
	}
	return a
}

// followServers notes when the holder of an identity Lease changes, which is when another
// API server starts.
func (p *plantedHandler) followServers(leases cache.SharedIndexInformer, own string) error {
	_, err := leases.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		was, wasLease := before.(*coordinationv1.Lease)
		is, isLease := after.(*coordinationv1.Lease)
		if !wasLease || !isLease || !strings.HasPrefix(is.Name, "apiserver-") || is.Name == own || holderOf(was) == holderOf(is) {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.joined = p.clock.Now()
	}})
	return err
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// answer is a whole answer.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (p *plantedHandler) answer(r *http.Request) *answer {
	a := &answer{header: http.Header{}, code: http.StatusOK}
	p.next.ServeHTTP(a, r)
	return a
}

// Header, Write and WriteHeader implement http.ResponseWriter.
func (a *answer) Header() http.Header            { return a.header }
func (a *answer) Write(data []byte) (int, error) { return a.body.Write(data) }
func (a *answer) WriteHeader(code int)           { a.code = code }

func (a *answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body.Bytes()) // the client has gone if it fails
}

// without is the answer with what is left of the objects of the list that it is.
func (a *answer) without(left func(objects []any) []any) *answer {
	var list map[string]any
	if a.header.Get("Content-Encoding") != "" || json.Unmarshal(a.body.Bytes(), &list) != nil {
		return a
	}
	items, _ := list["items"].([]any)
	if len(items) == 0 {
		return a
	}
	list["items"] = left(items)
	short, err := json.Marshal(list)
	if err != nil {
		return a
	}
	out := &answer{header: a.header.Clone(), code: a.code}
	out.header.Del("Content-Length")
	out.body.Write(short)
	return out
}

// lateWriter writes everything some time later, but for the first piece that has what it loses.
type lateWriter struct {
	http.ResponseWriter
	now   func() time.Time
	late  time.Duration
	queue chan lateData
	done  chan struct{}
	loses []byte
	// header is flushed before anything is written.
	header sync.Once
}

type lateData struct {
	due  time.Time
	data []byte
}

// lateQueue is how much a lateWriter holds before it keeps its caller waiting.
const lateQueue = 10_000

func newLateWriter(w http.ResponseWriter, clk clock.WithTicker, late time.Duration, over <-chan struct{}) *lateWriter {
	l := &lateWriter{ResponseWriter: w, now: clk.Now, late: late, queue: make(chan lateData, lateQueue), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		flush := http.NewResponseController(w)
		for next := range l.queue {
			if wait := next.due.Sub(clk.Now()); wait > 0 {
				select {
				case <-clk.After(wait):
				case <-over:
					continue // what is left is for no client any more
				}
			}
			_, _ = w.Write(next.data)
			_ = flush.Flush()
		}
	}()
	return l
}

// Write implements http.ResponseWriter.
func (l *lateWriter) Write(data []byte) (int, error) {
	if l.loses != nil && bytes.Contains(data, l.loses) {
		l.loses = nil
		return len(data), nil
	}
	l.queue <- lateData{l.now().Add(l.late), bytes.Clone(data)}
	return len(data), nil
}

// Flush implements http.Flusher: what is written is flushed when it is due. The header is
// flushed at once, so that the client has its watch.
func (l *lateWriter) Flush() {
	l.header.Do(func() { _ = http.NewResponseController(l.ResponseWriter).Flush() })
}

// CloseNotify is required: without it, the filters of k8s.io/apiserver pass no Flusher on,
// and watches do not work.
func (l *lateWriter) CloseNotify() <-chan bool {
	if of, ok := l.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return of.CloseNotify()
	}
	return nil
}

// close waits until all was written, or the client has gone.
func (l *lateWriter) close() {
	close(l.queue)
	<-l.done
}
