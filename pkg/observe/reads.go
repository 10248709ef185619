package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// acceptMetadata asks for lists of no more than the metadata of objects. An API server has
// to decode and convert each of them all the same.
const acceptMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// Reads asks each member for the objects that the harness wrote through all of them, and
// records how each answer compares with etcd. It may be used for several members at a time.
//
// What it misses: the content of objects (Stored.Content has the content in etcd), the
// objects of a list beyond ReadMost, pages after the second one, and those that no list had in between. If etcd cannot
// be read, there is nothing to compare an answer with, and Reads asks nothing.
type Reads struct {
	etcd     *Etcd
	recorder Recorder
	pages    pages
}

// NewReads makes a recorder that holds answers against what the other one reads.
func NewReads(etcd *Etcd, recorder Recorder) *Reads { return &Reads{etcd: etcd, recorder: recorder} }

// Ask reads all resources that the harness has written through the client's member. The
// turn chooses which objects are asked for by name. A member that does not answer, and a
// context that ends, leave a gap.
func (r *Reads) Ask(ctx context.Context, client *Client, turn int) {
	for _, resource := range r.etcd.Written() {
		one := resourceRead{reads: r, client: client, of: resource}
		one.ask(ctx, turn)
		if why := one.silent; why != "" || ctx.Err() != nil {
			if why == "" {
				why = "there was no time for it"
			}
			r.recorder.Record(history.Event{Kind: history.KindRecorderMissed, Member: client.Member(), RecorderMissed: &history.RecorderMissed{Source: history.SourceRead,
				Message: fmt.Sprintf("the member was not asked for all that the harness wrote, only up to the resource %s: %s", resource.Resource, why)}})
			return
		}
	}
}

// ask asks for one resource in every way, until the member does not answer.
func (o *resourceRead) ask(ctx context.Context, turn int) {
	from := o.reads.recorder.Now()
	versions, answer, known := hostedVersions(ctx, o.client, o.of.Group, o.of.Resource)
	if !known || len(versions) == 0 {
		seen := o.seen(history.ReadConsistent, "", answer)
		if known {
			seen.Code, seen.NotServed = http.StatusNotFound, true
		}
		o.record(ctx, from, seen)
		return
	}
	for i, version := range versions {
		o.get(ctx, version, turn+i)
		// A member keeps a cache for each version of a custom resource, and one of them may have
		// missed what the others show (kubernetes/kubernetes#131022).
		hows := []string{history.ReadConsistent, history.ReadNotOlder}
		if i == 0 {
			hows = []string{history.ReadConsistent, history.ReadLimited, history.ReadCached, history.ReadNotOlder}
		}
		for _, how := range hows {
			if o.silent != "" || ctx.Err() != nil {
				return
			}
			o.list(ctx, version, how)
		}
	}
	if o.silent == "" && ctx.Err() == nil {
		o.stream(ctx, versions[turn%len(versions)])
	}
}

// hostedVersions are the versions in which a member serves a resource, the preferred one
// first, as its unaggregated discovery tells; known is whether it answered the question.
func hostedVersions(ctx context.Context, client *Client, group, resource string) (versions []string, answer Answer, known bool) {
	candidates := []string{"v1"}
	if group != "" {
		answer = client.Get(ctx, "/apis/"+group)
		var found metav1.APIGroup
		switch {
		case answer.Code == http.StatusNotFound:
			return nil, answer, true
		case !answer.OK() || json.Unmarshal(answer.Body, &found) != nil:
			return nil, answer, false
		}
		candidates = nil
		for _, version := range found.Versions {
			candidates = append(candidates, version.Version)
		}
	}
	for _, version := range candidates {
		answer = client.Get(ctx, GroupVersionPath(group, version))
		var found metav1.APIResourceList
		switch {
		case answer.Code == http.StatusNotFound:
		case !answer.OK() || json.Unmarshal(answer.Body, &found) != nil:
			return nil, answer, false
		case slices.ContainsFunc(found.APIResources, func(one metav1.APIResource) bool { return one.Name == resource }):
			versions = append(versions, version)
		}
	}
	return versions, answer, true
}

// resourceRead is the asking of one member for one resource.
type resourceRead struct {
	reads  *Reads
	client *Client
	of     WrittenResource
	// silent is why the member did not answer, if it did not: it is not asked on then.
	silent string
}

// seen begins a record of an answer.
func (o *resourceRead) seen(how, version string, answer Answer) history.Read {
	read := history.Read{How: how, Group: o.of.Group, Version: version, Resource: o.of.Resource}
	read.Code, read.Reason, read.Message = answer.Code, answer.Reason, shorten(answer.Message)
	if answer.Err != nil {
		read.Error = shorten(answer.Err.Error())
		o.silent = read.Error
	}
	return read
}

func (o *resourceRead) record(ctx context.Context, from int64, read history.Read) {
	if ctx.Err() != nil {
		return // a request that was cut off says nothing of the member
	}
	o.reads.recorder.Record(history.Event{Kind: history.KindRead, Member: o.client.Member(), From: from, Read: &read})
}

// list asks for a list and holds it against etcd at the list's own revision.
func (o *resourceRead) list(ctx context.Context, version, how string) {
	before, at, total, err := o.reads.etcd.held(ctx, o.of.prefix, 0, ReadMost)
	if err == nil && total > ReadMost && how != history.ReadLimited {
		return
	}
	query, after := url.Values{}, at
	switch how {
	case history.ReadLimited:
		query.Set("limit", strconv.Itoa(ReadLimit))
	case history.ReadCached:
		query.Set("resourceVersion", "0")
		after = 0
	case history.ReadNotOlder:
		// The cache of a resource that is not written need not come to a later revision.
		after = 0
		for _, key := range before {
			after = max(after, key.modified)
		}
		if after == 0 {
			return
		}
		query.Set("resourceVersion", strconv.FormatInt(after, 10))
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan))
	}
	from := o.reads.recorder.Now()
	answer := o.send(ctx, version, query)
	read := o.seen(how, version, answer)
	read.After = after
	if how == history.ReadLimited {
		read.Limit = ReadLimit
	}
	token := ""
	if answer.OK() {
		token = o.hold(ctx, answer, &read)
	}
	o.record(ctx, from, read)
	if how == history.ReadLimited && token != "" {
		o.goOn(ctx, version, page{token, read.ResourceVersion, read.Items, o.client.Member(), o.reads.recorder.Now()})
	}
}

// goOn asks for the page after a list with a limit. The token is one of another member where there is
// one: any API server takes it, and goes on at the revision of the list.
func (o *resourceRead) goOn(ctx context.Context, version string, own page) {
	before := o.reads.pages.turn(hostedResource{o.of.Group, o.of.Resource}, own)
	from := o.reads.recorder.Now()
	answer := o.send(ctx, version, url.Values{"limit": {strconv.Itoa(ReadLimit)}, "continue": {before.token}})
	read := o.seen(history.ReadContinued, version, answer)
	read.Limit, read.After, read.Before, read.By = ReadLimit, before.revision, before.objects, before.member
	switch {
	case answer.OK():
		o.hold(ctx, answer, &read)
	case answer.Code == http.StatusGone:
		// A token may expire, but not before etcd forgets its revision.
		if _, _, _, err := o.reads.etcd.held(ctx, o.of.prefix, before.revision, 1); err != nil {
			read.NotCompared = "etcd could not be read at the revision of the page before: " + shorten(err.Error())
		}
	}
	o.record(ctx, from, read)
}

// send asks for a list.
func (o *resourceRead) send(ctx context.Context, version string, query url.Values) Answer {
	path, query := o.listed(version, query)
	return o.client.sendWith(ctx, map[string]string{"Accept": acceptMetadata}, http.MethodGet, path, query, nil)
}

// listed is where the objects are listed or watched. Of a cluster that is shared these are only the
// objects of the run.
func (o *resourceRead) listed(version string, query url.Values) (string, url.Values) {
	call := Call{Verb: "list", Group: o.of.Group, Version: version, Resource: o.of.Resource}
	switch {
	case o.of.own == "":
	case o.of.namespaced:
		call.Namespace = o.of.own
	default:
		query.Set("labelSelector", RunLabel+"="+o.of.own)
	}
	return resourcePath(call), query
}

// hold compares a list with etcd, and gives the token by which the list goes on, if it does.
func (o *resourceRead) hold(ctx context.Context, answer Answer, read *history.Read) (token string) {
	var list struct {
		Metadata metav1.ListMeta                `json:"metadata"`
		Items    []metav1.PartialObjectMetadata `json:"items"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		read.NotCompared = "the list cannot be read: " + shorten(err.Error())
		return ""
	}
	read.Items, read.ResourceVersion, token = len(list.Items), number(list.Metadata.ResourceVersion), list.Metadata.Continue
	if read.ResourceVersion <= 0 {
		read.NotCompared = "the list has no resourceVersion"
		return ""
	}
	o.compare(ctx, list.Items, read)
	return token
}

// compare holds objects against etcd at the revision of the answer that they are of.
func (o *resourceRead) compare(ctx context.Context, items []metav1.PartialObjectMetadata, read *history.Read) {
	// Of a page, as many objects in the order of their keys are compared, after those of the page before.
	held, _, _, err := o.reads.etcd.held(ctx, o.of.prefix, read.ResourceVersion, int64(read.Before+read.Limit))
	if err != nil {
		read.NotCompared = "etcd could not be read at the revision of the list: " + shorten(err.Error())
		return
	}
	held = held[min(read.Before, len(held)):]
	answered := map[string]int64{}
	for _, item := range items {
		answered[QualifiedName(item.Namespace, item.Name)] = number(item.ResourceVersion)
	}
	read.Compared, read.Stored = true, len(held)
	for _, key := range held {
		name := o.of.whole(key.name)
		rv, there := answered[name]
		delete(answered, name)
		switch {
		case !there:
			read.Missing++
		case rv < key.modified:
			read.Older++
		case rv > key.modified:
			read.Newer++
		default:
			continue
		}
		tell(read, name, rv, key.modified)
	}
	for _, item := range items {
		name := QualifiedName(item.Namespace, item.Name)
		if rv, extra := answered[name]; extra {
			read.Extra++
			tell(read, name, rv, 0)
		}
	}
}

// tell notes a difference by name, if there are not enough yet.
func tell(read *history.Read, name string, answered, stored int64) {
	if len(read.Names) < ReadNames {
		read.Names = append(read.Names, history.ReadName{Name: name, Answered: answered, Stored: stored})
	}
}

// get asks for some of the objects by name. Each must be answered in a state that etcd has
// had since before the request was sent.
func (o *resourceRead) get(ctx context.Context, version string, turn int) {
	from := o.reads.recorder.Now()
	before, at, _, err := o.reads.etcd.held(ctx, o.of.prefix, 0, ReadMost)
	if err != nil || len(before) == 0 {
		if err != nil {
			o.record(ctx, from, history.Read{How: history.ReadGet, Group: o.of.Group, Version: version, Resource: o.of.Resource,
				Error: "nothing was asked: " + shorten(err.Error()), NotCompared: "etcd could not be read"})
		}
		return
	}
	sample := sampleOf(before, turn)
	read := history.Read{How: history.ReadGet, Group: o.of.Group, Version: version, Resource: o.of.Resource, After: at, Asked: len(sample), Code: http.StatusOK}
	answers := map[string]Answer{}
	for _, key := range sample {
		answer := o.client.Get(ctx, o.path(version, o.of.whole(key.name)))
		answers[key.name] = answer
		switch {
		case answer.OK():
			read.Items++
		case answer.Code != http.StatusNotFound && read.Code == http.StatusOK:
			failed := o.seen(read.How, version, answer)
			read.Code, read.Reason, read.Message, read.Error = failed.Code, failed.Reason, failed.Message, failed.Error
		}
	}
	after, err := o.heldOf(ctx, sample)
	if err != nil {
		read.NotCompared = "etcd could not be read: " + shorten(err.Error())
		o.record(ctx, from, read)
		return
	}
	read.Compared = true
	for _, key := range sample {
		answer, now := answers[key.name], after[key.name]
		if now.created != key.created {
			continue // it was deleted meanwhile: both answers are right
		}
		read.Stored++
		switch {
		case answer.Code == http.StatusNotFound:
			read.Missing++
		case !answer.OK():
			continue
		case answer.ResourceVersion < key.modified:
			read.Older++
		case answer.ResourceVersion > now.modified:
			read.Newer++
		default:
			continue
		}
		tell(&read, o.of.whole(key.name), answer.ResourceVersion, key.modified)
	}
	o.record(ctx, from, read)
}

// sampleOf chooses objects that lie apart, others with each turn.
func sampleOf(keys []heldKey, turn int) []heldKey {
	var sample []heldKey
	n := min(ReadSample, len(keys))
	for i := range n {
		sample = append(sample, keys[(turn+i*len(keys)/n)%len(keys)])
	}
	return sample
}

// heldOf are those of the objects that etcd holds now, by name.
func (o *resourceRead) heldOf(ctx context.Context, sample []heldKey) (map[string]heldKey, error) {
	now := map[string]heldKey{}
	var errs []error
	for _, key := range sample {
		found, _, _, err := o.reads.etcd.held(ctx, o.of.prefix+key.name, 0, 1)
		errs = append(errs, err)
		if len(found) == 1 && found[0].name == "" { // and not another one whose name begins alike
			now[key.name] = found[0]
		}
	}
	return now, errors.Join(errs...)
}

func (o *resourceRead) path(version, name string) string {
	namespace, name := splitName(name)
	return resourcePath(Call{Verb: "get", Group: o.of.Group, Version: version, Resource: o.of.Resource, Namespace: namespace, Name: name})
}
