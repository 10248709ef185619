package observe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Documents records the discovery documents of one member: the aggregated one of
// all groups again and again, and now and then everything in every form.
type Documents struct {
	member   string
	config   func() (*rest.Config, error)
	recorder Recorder
	library  *Library
	clock    clock.WithTicker
	woken    chan struct{}
	// due has a token while there is reason for a thorough look.
	due chan struct{}

	mu sync.Mutex
	// running is whether there is a process to ask, ready whether it ever was
	// ready, and fresh whether that is news.
	running, ready, fresh bool

	// sweeping keeps thorough looks apart.
	sweeping sync.Mutex
	sweeps   int64
	// tags are those of the look before, by path, and outdated the last ones that
	// were others.
	tags, outdated map[string]string

	// Only the goroutine of Run uses what follows.
	last      history.DiscoveryDocument
	lastTime  time.Time
	sweptTime time.Time
	sweptTag  string
}

// NewDocuments makes the recorder of one member; those of all members share the
// library.
func NewDocuments(member string, config func() (*rest.Config, error), recorder Recorder, library *Library, clk clock.WithTicker) *Documents {
	return &Documents{member: member, config: config, recorder: recorder, library: library, clock: clk, woken: make(chan struct{}, 1), due: make(chan struct{}, 1),
		tags: map[string]string{}, outdated: map[string]string{},
	}
}

// ProcessChanged tells the recorder of a change of its member's processes.
func (d *Documents) ProcessChanged(change cluster.Change) {
	if change.Member != d.member || change.Component != cluster.APIServer {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch change.What {
	case history.ProcessStarted:
		d.running, d.ready = true, false
	case history.ProcessExited:
		d.running, d.ready, d.fresh = false, false, false
	}
}

// Ready tells the recorder of the first ready answer of an instance: what the
// document says at that moment is a promise of its own.
func (d *Documents) Ready(int) {
	d.mu.Lock()
	d.ready, d.fresh = d.running, d.running
	d.mu.Unlock()
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// Run looks until the context ends.
func (d *Documents) Run(ctx context.Context) {
	client := connectUntil(ctx, d.member, d.config, d.recorder, d.clock)
	if client == nil {
		return
	}
	defer client.Close()
	// How soon a change shows is told by the quick looks: they go on beside a thorough one, which
	// takes seconds where the machine is busy.
	var sweeps sync.WaitGroup
	defer sweeps.Wait()
	sweeps.Go(func() {
		for {
			select {
			case <-d.due:
				d.Sweep(ctx, client)
			case <-ctx.Done():
				return
			}
		}
	})
	for ctx.Err() == nil {
		d.look(ctx, client)
		timer := d.clock.NewTimer(DocumentInterval)
		select {
		case <-timer.C():
		case <-d.woken:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// look asks once, and for a thorough look where there is reason to.
func (d *Documents) look(ctx context.Context, client *Client) {
	d.mu.Lock()
	running, ready, fresh := d.running, d.ready, d.fresh
	d.fresh = false
	d.mu.Unlock()
	if !running {
		return
	}
	ev := d.ask(ctx, client, groupsPath, askJSON, "")
	if ctx.Err() != nil || ev.DiscoveryDocument.Code == 0 && !fresh && d.last.Code == 0 {
		return
	}
	seen := ev.DiscoveryDocument
	news := fresh || seen.Code != d.last.Code || seen.ETag != d.last.ETag || seen.Digest != d.last.Digest
	now := d.clock.Now()
	if news || now.Sub(d.lastTime) >= history.DiscoveryDocumentRepeat {
		d.last, d.lastTime = *seen, now
		d.library.record(d.recorder, ev)
	}
	due := fresh || seen.ETag != d.sweptTag && now.Sub(d.sweptTime) >= SweepSpacing
	// A server without aggregated discovery answers 406, and has the other forms.
	given := seen.Code == http.StatusOK || seen.Code == http.StatusNotAcceptable
	if given && ready && due {
		d.sweptTime, d.sweptTag = now, seen.ETag
		select {
		case d.due <- struct{}{}:
		default: // one is to begin anyway
		}
	}
}

// groupsPath and corePath are where the two documents are.
const (
	groupsPath = "/apis"
	corePath   = "/api"
)

// Sweep asks for everything in every form. The document is fetched in the same
// form at the beginning and the end, so that who reads it knows whether what
// came in between was of one and the same moment.
func (d *Documents) Sweep(ctx context.Context, client *Client) {
	d.sweeping.Lock()
	defer d.sweeping.Unlock()
	d.sweeps++
	tell := func(ev history.Event, last bool) *history.DiscoveryDocument {
		ev.DiscoveryDocument.Sweep, ev.DiscoveryDocument.Last = d.sweeps, last
		if ctx.Err() == nil {
			d.library.record(d.recorder, ev)
		}
		return ev.DiscoveryDocument
	}
	ask := func(path, accept, tag string) *history.DiscoveryDocument {
		return tell(d.ask(ctx, client, path, accept, tag), false)
	}
	tell(d.measure(ctx, client), false)
	var union, local *history.Listing
	for _, path := range []string{corePath, groupsPath} {
		first := ask(path, askJSON, "")
		if tag := first.ETag; tag != d.tags[path] {
			d.tags[path], d.outdated[path] = tag, d.tags[path]
		}
		for _, form := range forms {
			seen := ask(path, form, "")
			if path == groupsPath && form == askLocal {
				union, local = first.Listing, seen.Listing
			}
		}
		for _, condition := range conditions(d.tags[path], d.outdated[path]) {
			ask(path, askJSON, condition)
		}
		// Another encoding is cached by clients, too, and has the same tag.
		for _, condition := range singles(d.tags[path], d.outdated[path]) {
			ask(path, askProtobuf, condition)
		}
	}
	versions := d.versions(ctx, client)
	for _, version := range versions {
		ask(GroupVersionPath(version.Group, version.Version), asJSON, "")
	}
	for _, version := range unlisted(local, versions) {
		tell(d.askItself(ctx, client, GroupVersionPath(version.Group, version.Version)), false)
	}
	for _, path := range onlyPeers(union, local) {
		d.askThrough(ctx, client, path, func(ev history.Event) { tell(ev, false) })
	}
	for _, legacy := range []bool{false, true} {
		tell(d.discover(ctx, client, legacy), false)
	}
	ask(corePath, askJSON, "")
	ask(groupsPath, asJSON, "")
	ask(groupsPath, askJSON, "")
	tell(d.measure(ctx, client), true)
}

// versions are those that the documents tell of that are not aggregated.
func (d *Documents) versions(ctx context.Context, client *Client) []groupVersion {
	versions, err := groupVersions(ctx, client)
	if err != nil {
		// The answers of the same requests are in the history: checks see why.
		return nil
	}
	return versions
}

// ask sends one request. What came of it is in the event's Document.
func (d *Documents) ask(ctx context.Context, client *Client, path, accept, ifNoneMatch string) history.Event {
	return d.send(ctx, client, &history.DiscoveryDocument{Path: path, Accept: accept, IfNoneMatch: ifNoneMatch})
}

// send sends the request that the document tells of, and fills in what came of it.
func (d *Documents) send(ctx context.Context, client *Client, seen *history.DiscoveryDocument) history.Event {
	ev := history.Event{Kind: history.KindDiscoveryDocument, Member: d.member, From: d.recorder.Now(), DiscoveryDocument: seen}
	header, body, err := client.fetch(ctx, seen.Path, nil, headersOf(seen), &seen.Code)
	if err != nil {
		seen.Code, seen.Error = 0, shorten(err.Error())
		return ev
	}
	seen.ContentType, seen.ETag = header.Get("Content-Type"), header.Get("ETag")
	seen.Vary, seen.CacheControl = strings.Join(header.Values("Vary"), ", "), header.Get("Cache-Control")
	seen.Size = len(body)
	if seen.Size > 0 {
		sum := sha256.Sum256(body)
		seen.Digest = hex.EncodeToString(sum[:digestBytes])
		d.library.read(seen, body)
	}
	return ev
}

// measure reads the counter of aggregations, and how many durations of them were observed.
func (d *Documents) measure(ctx context.Context, client *Client) history.Event {
	seen := &history.DiscoveryDocument{Path: history.MetricsPath}
	ev := history.Event{Kind: history.KindDiscoveryDocument, Member: d.member, From: d.recorder.Now(), DiscoveryDocument: seen}
	_, body, err := client.fetch(ctx, history.MetricsPath, nil, nil, &seen.Code)
	if err != nil {
		seen.Code, seen.Error = 0, shorten(err.Error())
		return ev
	}
	seen.Aggregations = countOf(body, counters)
	if seen.Durations = countOf(body, durations); seen.Durations == nil {
		none := int64(-1)
		seen.Durations = &none
	}
	return ev
}

// Names of the counter: as KEP-3352 has it, and as Kubernetes does.
var counters = []string{"aggregator_discovery_aggregation_count", "aggregator_discovery_aggregation_count_total"}

// durations is the count of the histogram of durations, as KEP-3352 names that.
var durations = []string{"aggregator_discovery_aggregation_duration_count"}

// countOf reads a counter of one of these names from the text of the metrics; nil if there
// is none.
func countOf(text []byte, names []string) *int64 {
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if !slices.Contains(names, name) {
			continue
		}
		if count, err := strconv.ParseFloat(value, 64); err == nil {
			n := int64(count)
			return &n
		}
	}
	return nil
}

// headersOf are those of the request that a document tells of; empty ones are not
// sent.
func headersOf(d *history.DiscoveryDocument) map[string]string {
	headers := map[string]string{"Accept": d.Accept, "If-None-Match": d.IfNoneMatch}
	if d.LocalOnly {
		headers[handedOnHeader] = "true"
	}
	return headers
}

// fetch sends a request with these headers, of those that matter to the answer,
// and sets the code.
func (c *Client) fetch(ctx context.Context, path string, query url.Values, headers map[string]string, code *int) (http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, DocumentTimeout)
	defer cancel()
	request, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Del("Accept")
	for name, value := range headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	*code = response.StatusCode
	return response.Header, body, nil
}

// digestBytes is how much of a SHA-256 names something in a history: enough that
// no two things have the same name.
const digestBytes = 16

// nameOf names a value by what it is in JSON.
func nameOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a value of the history has no JSON: %v", err)) // its types all have
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:digestBytes])
}
