package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad05: v2beta1 is served in the releases that are to serve it, and only in those
// (KEP-3352, graduation: it goes some releases after v2 came).
type ad05 struct {
	findings
	with, without int64
	judged        tally
	unknown       string
}

// betaUntil is the last minor release of each distribution, with the major
// release 1, that serves v2beta1: Kubernetes took it out in 1.33, and the
// reference has such a release too.
var betaUntil = map[string]int{"kubernetes": 32, "reference": 2}

func (c *ad05) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	until, known := betaUntil[w.Header.Distribution]
	minor, err := minorOf(s.in.release)
	if !known || err != nil {
		c.unknown = fmt.Sprintf("whether the release %q of %q is to serve %s is not known", s.in.release, w.Header.Distribution, betaVersion)
		return
	}
	want := minor <= until
	asked := s.askedFor(betaVersion)
	if asked == nil || busy(asked.Document) {
		return
	}
	f, ok := formOf(asked.Document)
	got := ok && asked.Document.Code == 200 && f.version == betaVersion
	switch {
	case got != want:
		c.violate(at(s.in.startSeq, asked.Seq), "%s runs release %s, which is to serve %s: %v; but asked for nothing else it answered %d with the content type %q",
			s.member, s.in.release, betaVersion, want, asked.Document.Code, asked.Document.ContentType)
	case want:
		c.with++
		c.judged.add(w, s.member)
	default:
		c.without++
		c.judged.add(w, s.member)
	}
}

// askedFor is the answer to who asked for nothing but the version in JSON; nil if
// nobody did.
func (s *sweep) askedFor(version string) (found *history.Event) {
	for _, ev := range s.answers {
		options := optionsOf(ev.Document.Accept)
		if negotiated(ev.Document) && len(options) == 1 && options[0].version == version {
			found = ev
		}
	}
	return found
}

// minorOf reads 33 from v1.33.2, and from 1.33.
func minorOf(release string) (int, error) {
	parts := strings.Split(strings.TrimPrefix(release, "v"), ".")
	if len(parts) < 2 || parts[0] != "1" {
		return 0, fmt.Errorf("%q is no release", release)
	}
	return strconv.Atoi(parts[1])
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
		{"looks at the member with the fewest whose release is known to serve v2beta1 or not", c.judged.least(), needSweeps},
		{"looks at members of releases with and without it", c.with + c.without, needForms},
	}
}
