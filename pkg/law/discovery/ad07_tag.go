package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad07: the tag follows from the content alone: the same document has the same
// tag, on every server and after every restart (KEP-3352, caching).
var ad07 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-07", Takes: []string{history.LackRestarts}, Sources: documents, Needs: append(anyOf("common", "restarted", "returned"), law.Need{Name: "tags", Tag: "tag"})},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		bodies, tags := f.sightings(), f.sightings()
		for _, k := range f.looks {
			if k.Code != http.StatusOK || k.Digest == "" {
				continue
			}
			e := k.entry(k.ETag)
			body, _ := bodies.first(k.Digest, k.ETag, k.seq)
			tag, isNew := tags.first(k.ETag, k.Content, k.seq)
			switch {
			case k.ETag == "":
				l.Add(e.Broken("%s gives the aggregated document at %s no ETag", k.member.name, k.Path))
			case body.with != k.ETag:
				l.Add(e.Broken("%s gives the tag %s to a document at %s that has the tag %s elsewhere or at another time", k.member.name, k.ETag, k.Path, body.with).Shown(body.seq, k.seq))
			case tag.with != k.Content:
				l.Add(e.Broken("%s gives the tag %s at %s to a document that says something else than what had it before", k.member.name, k.ETag, k.Path).Shown(tag.seq, k.seq))
			default:
				news := bodies.news(k.Digest, k)
				if isNew {
					news = append(news, "tag")
				}
				l.Add(e.Met(news...))
			}
		}
	},
}
