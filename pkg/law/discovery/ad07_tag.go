package discovery

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad07: the tag follows from the content alone: who has the same document has the same
// tag, on every server and after every restart (KEP-3352, caching).
var ad07 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-07", Sources: documents, Needs: []law.Need{
		{Name: "tags", Tag: "tag"}, {Name: "common", Tag: "common"}, {Name: "restarted", Tag: "restarted"}, {Name: "returned", Tag: "returned"},
	}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		t := tagging{facts: f, ledger: l, bodies: map[string]*seenFirst{}, tags: map[string]*seenFirst{}, latest: map[string]string{}, broken: map[string]bool{}}
		for _, k := range f.looks(corePath, groupsPath) {
			if k.told() != nil || k.code == 200 && k.digest != "" {
				t.look(k)
			}
		}
	},
}

// tagging compares the tags of documents.
type tagging struct {
	facts  *Facts
	ledger *law.Ledger
	// bodies are the digests of bodies with their tags, and tags with what was told.
	bodies, tags map[string]*seenFirst
	latest       map[string]string // body by member
	broken       map[string]bool
}

// seenFirst is what something was seen with first.
type seenFirst struct {
	with string
	seq  int64
	// by are the last processes that had it, by member.
	by     map[string]*fact.Process
	common bool
}

func (t *tagging) look(k *look) {
	name := k.member.name
	if k.tag == "" {
		t.breach(name, k, nil, fmt.Sprintf("%s gives the aggregated document at %s no ETag", name, k.path))
		return
	}
	body, tag := t.bodies[k.digest], t.tags[k.tag]
	if body == nil {
		body = &seenFirst{with: k.tag, seq: k.seq, by: map[string]*fact.Process{}}
		t.bodies[k.digest] = body
	}
	if tag == nil {
		tag = &seenFirst{with: k.content, seq: k.seq}
		t.tags[k.tag] = tag
		t.ledger.Met(k.tag, k.moment(), "tag")
	}
	switch {
	case body.with != k.tag:
		t.breach(name+k.digest, k, body, fmt.Sprintf("%s gives the tag %s to a document at %s that has the tag %s elsewhere or at another time", name, k.tag, k.path, body.with))
	case tag.with != k.content:
		t.breach(name+k.tag, k, tag, fmt.Sprintf("%s gives the tag %s at %s to a document that says something else than what had it before", name, k.tag, k.path))
	default:
		t.count(k, body)
	}
}

func (t *tagging) breach(id string, k *look, before *seenFirst, why string) {
	if t.broken[id] {
		return
	}
	t.broken[id] = true
	e := law.Entry{Ending: law.Broken, About: k.tag, Member: k.member.name, Began: k.moment(), Why: why, Evidence: law.Evidence(k.seq), SelfEvident: before == nil}
	if before != nil {
		e.Evidence = law.Evidence(before.seq, k.seq)
	}
	t.ledger.Add(e)
}

// count enters what is new about a document: that another process has it, or that a member
// has come back to it.
func (t *tagging) count(k *look, body *seenFirst) {
	name, in := k.member.name, k.process()
	if in == nil {
		return
	}
	var tags []string
	before, had := body.by[name]
	if had && before != in {
		tags = append(tags, "restarted")
	}
	body.by[name] = in
	if k.path == groupsPath {
		if had && t.latest[name] != k.digest {
			tags = append(tags, "returned")
		}
		t.latest[name] = k.digest
	}
	if len(body.by) == len(t.facts.Members()) && !body.common {
		body.common = true
		tags = append(tags, "common")
	}
	if !had || len(tags) > 0 {
		t.ledger.MetBy(name, k.tag, k.moment(), tags...)
	}
}
