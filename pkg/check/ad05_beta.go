package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ad05: v2beta1 is served in the releases that are to serve it, and only in those
// (KEP-3352, graduation: it goes some releases after v2 came).
type ad05 struct {
	findings
	with, without int64
	judged        tally
	unknown       string
}

// betaAPI is what the table of graduations calls it.
const betaAPI = "apidiscovery.k8s.io/" + betaVersion

func (c *ad05) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	want, known := requirement.Serves(betaAPI, w.Header.Distribution, s.in.release)
	if !known {
		c.unknown = fmt.Sprintf("whether the release %q of %q is to serve %s is not known", s.in.release, w.Header.Distribution, betaVersion)
		return
	}
	right := false
	for _, path := range []string{corePath, groupsPath} {
		asked := s.askedFor(path, betaVersion)
		if asked == nil {
			continue
		}
		if busy(asked.Document) {
			return
		}
		f, ok := formOf(asked.Document)
		if got := ok && asked.Document.Code == 200 && f.version == betaVersion; got != want {
			c.violate(at(s.in.startSeq, asked.Seq), "%s runs release %s, which is to serve %s: %v; but asked for nothing else at %s it answered %d with the content type %q",
				s.member, s.in.release, betaVersion, want, path, asked.Document.Code, asked.Document.ContentType)
			return
		}
		right = true
	}
	switch {
	case !right:
		return
	case want:
		c.with++
	default:
		c.without++
	}
	c.judged.add(w, s.member)
}

// askedFor is the last answer at the path to who asked for nothing but the version; nil
// if nobody did.
func (s *sweep) askedFor(path, version string) (found *history.Event) {
	for _, ev := range s.answers {
		options := optionsOf(ev.Document.Accept)
		if negotiated(ev.Document) && ev.Document.Path == path && len(options) == 1 && options[0].version == version {
			found = ev
		}
	}
	return found
}

func (c *ad05) Finish(*World) {}

func (c *ad05) doubts() []string {
	if c.unknown == "" {
		return nil
	}
	return []string{c.unknown}
}

func (c *ad05) Observations() []Observation {
	return []Observation{
		{What: "looks at the member with the fewest whose release is known to serve v2beta1 or not", Seen: c.judged.least(), Need: needSweeps},
		{What: "looks at members of releases with and without it", Seen: c.with + c.without, Need: needForms},
	}
}
