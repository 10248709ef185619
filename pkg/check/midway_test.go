package check

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

var numbers = regexp.MustCompile(`(event|process) [0-9]+`)

func ledgersOf(header history.Header, events []history.Event, ids []requirement.ID) map[requirement.ID][]law.Entry {
	h := header
	var lacks []history.Lack
	_ = lacks
	var reqs []requirement.Requirement
	for _, id := range ids {
		r, _ := requirement.Lookup(id)
		reqs = append(reqs, enoughForStories(r))
	}
	j := Begin(h, reqs)
	for i := range events {
		j.Take(&events[i])
	}
	if j.crashed != "" {
		fmt.Println("CRASH", j.crashed)
	}
	out := map[requirement.ID][]law.Entry{}
	for _, id := range ids {
		func() {
			defer func() {
				if p := recover(); p != nil {
					fmt.Println("LAWCRASH", id, p)
				}
			}()
			_, l := j.of[id].Judge(id)
			out[id] = l.Entries
		}()
	}
	return out
}

func TestMidwayExplore(t *testing.T) {
	count := map[string]int{}
	example := map[string]string{}
	cuts := map[string]int{}
	done := map[string]bool{}
	for _, s := range allStories {
		key := s.Name
		if s.Want == story.Pass {
			key = s.Base
		}
		if done[key] {
			continue
		}
		done[key] = true
		w := s.Whole()
		events := w.Events()
		ids := story.Neighbors(allStories, s)
		if s.Want != story.Pass {
			ids = []requirement.ID{s.Requirement}
		}
		full := ledgersOf(w.Header(), events, ids)
		tried := 0
		last := -100
		step := len(events) / 12
		if s.Want != story.Pass {
			step = len(events) / 5
		}
		if len(events) > 20000 {
			step = len(events) / 2
		}
		for at := 1; at < len(events)-1; at++ {
			if at-last < step {
				continue
			}
			h, cut, from, ok := story.Midway(w.Header(), events, at)
			if !ok {
				continue
			}
			last = at
			tried++
			_ = from
			got := ledgersOf(h, cut, ids)
			for _, id := range ids {
				key := func(e law.Entry) string {
					return e.Member + "|" + numbers.ReplaceAllString(e.About, "#")
				}
				met, breach := map[string]int{}, map[string]int{}
				for _, e := range full[id] {
					switch e.Ending {
					case law.Met:
						met[key(e)]++
					case law.Late, law.Broken:
						breach[key(e)]++
					}
				}
				for _, e := range got[id] {
					k := key(e)
					bad := ""
					switch e.Ending {
					case law.Met:
						if met[k]--; met[k] < 0 {
							bad = "MET-NOT"
						}
					case law.Late, law.Broken:
						if breach[k]--; breach[k] < 0 {
							bad = "BREACH-NOT"
						}
					}
					if bad != "" {
						c := string(id) + " " + bad
						if example[c] == "" {
							for _, x := range full[id] {
								if key(x) == k {
									fmt.Println("FULL", c, x.Ending, x.Began, x.Why, x.Tags)
								}
							}
							for _, x := range got[id] {
								if key(x) == k {
									fmt.Println("CUT", c, x.Ending, x.Began, x.Why, x.Tags)
								}
							}
						}
						count[c]++
						if example[c] == "" {
							example[c] = fmt.Sprintf("%s cut %d: %s began %d..%d %s %q ev %v", s.Name, at, k, e.Began.Earliest, e.Began.Latest, e.Ending, e.Why, e.Evidence)
						}
					}
				}
			}
		}
		cuts[s.Base] += tried
	}
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	f, _ := os.Create(os.Getenv("MIDWAY_OUT"))
	defer f.Close()
	for _, k := range keys {
		fmt.Fprintf(f, "%s x%d\n    %s\n", k, count[k], example[k])
	}
	fmt.Fprintln(f, cuts)
}
