package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Document is the discovery document of a server at one moment. It does not change,
// and callers must not change what it returns.
type Document struct {
	list  *apidiscoveryv2.APIGroupDiscoveryList
	plain []metav1.APIGroup
	tag   string
	forms map[Form]*body

	// What the document after this one can take over: encoded group-versions, and
	// once the canonical form was compressed, its pack. starts are where groups
	// begin in that form.
	fragments fragments
	starts    []groupStart
	packed    *pack
}

// body is the document in one form, encoded at the first request for it.
type body struct {
	plain, gzipped part
}

// part makes some bytes once.
type part struct {
	once  sync.Once
	asked atomic.Bool
	bytes []byte
	err   error
}

func (p *part) get(made func() ([]byte, error)) ([]byte, error) {
	p.asked.Store(true)
	p.once.Do(func() { p.bytes, p.err = made() })
	return p.bytes, p.err
}

// NewDocument makes the document of some groups, and keeps them. Their content
// must not be changed any more.
func NewDocument(groups []apidiscoveryv2.APIGroupDiscovery) (*Document, error) {
	return newDocument(groups, nil)
}

// newDocument makes a document that takes the place of another one, or of none.
func newDocument(groups []apidiscoveryv2.APIGroupDiscovery, before *Document) (*Document, error) {
	var known fragments
	size := 0
	if before != nil {
		known, size = before.fragments, before.size()
	}
	list := listOf(groups)
	content, starts, used, err := encodeCanonical(list, known, size)
	if err != nil {
		return nil, fmt.Errorf("encode the discovery document: %w", err)
	}
	d := &Document{list: list, plain: Plain(groups), tag: tagOf(content), forms: map[Form]*body{}, fragments: used, starts: starts}
	for _, version := range versions {
		for _, mediaType := range mediaTypes {
			d.forms[Form{Version: version, MediaType: mediaType}] = &body{}
		}
	}
	first := d.forms[canonical]
	first.plain.once.Do(func() { first.plain.bytes = content })
	return d, nil
}

// size is how many bytes to expect of the document that follows.
func (d *Document) size() int {
	const more = 16
	length := len(d.forms[canonical].plain.bytes)
	return length + length/more
}

// tagOf is the ETag of content: KEP-3352 calculates it "based on a hash of the
// data", so it is the same wherever and whenever the content is.
func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"`
}

// Tag is the document's ETag, with its quotes.
func (d *Document) Tag() string { return d.tag }

// Groups are all groups, in the order of their preference.
func (d *Document) Groups() []apidiscoveryv2.APIGroupDiscovery { return d.list.Items }

// Plain is the list of groups without their resources.
func (d *Document) Plain() []metav1.APIGroup { return d.plain }

// Bytes is the document in an aggregated form. Each is made once.
func (d *Document) Bytes(form Form, gzipped bool) ([]byte, error) {
	form.Scope = Everything
	b, ok := d.forms[form]
	if !ok {
		return nil, fmt.Errorf("discovery has no form %s", form.ContentType())
	}
	made := func() ([]byte, error) { return encode(d.list, form) }
	if !gzipped {
		return b.plain.get(made)
	}
	return b.gzipped.get(func() ([]byte, error) {
		plain, err := b.plain.get(made)
		if err != nil {
			return nil, err
		}
		if form == canonical {
			return d.pack(nil)
		}
		return compress(plain)
	})
}

// pack compresses the canonical form. It is called once.
func (d *Document) pack(before *pack) ([]byte, error) {
	var err error
	d.packed, err = packFrom(before, d.forms[canonical].plain.bytes, d.starts)
	if err != nil {
		return nil, err
	}
	return d.packed.bytes, nil
}

// succeed returns the document of some groups that replaces another document. If
// nothing changed, it returns the other document. Told is a hook.
func succeed(before *Document, groups []apidiscoveryv2.APIGroupDiscovery, told func(*Document) (*Document, error)) (*Document, error) {
	next, err := newDocument(groups, before)
	if err == nil {
		next, err = told(next)
	}
	if err != nil || next.Tag() == before.Tag() {
		return before, err
	}
	next.prepare(before)
	return next, nil
}

// prepare encodes the forms that clients requested of the previous document, so that
// no request waits for them. If an encoding fails, the request for it fails later.
func (d *Document) prepare(before *Document) {
	for form, b := range before.forms {
		if b.plain.asked.Load() {
			_, _ = d.Bytes(form, false)
		}
		switch {
		case !b.gzipped.asked.Load():
		case form == canonical:
			// A request may still be encoding this form: wait for it.
			_, _ = before.Bytes(form, true)
			_, _ = d.forms[form].gzipped.get(func() ([]byte, error) { return d.pack(before.packed) })
		default:
			_, _ = d.Bytes(form, true)
		}
	}
}
