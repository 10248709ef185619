// Sidebyside judges bundles by the checks and by the laws that replace them, and prints
// each requirement on which they differ, with the reasons. It goes when the last check
// does.
//
//	go run ./hack/sidebyside -only CLE reports/kubernetes/* …
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func main() {
	only := flag.String("only", "", "judge only requirements whose IDs begin so")
	all := flag.Bool("all", false, "print what is equal too")
	flag.Parse()
	var asked []requirement.Requirement
	for _, r := range requirement.All() {
		if strings.HasPrefix(string(r.ID), *only) {
			asked = append(asked, r)
		}
	}
	for _, dir := range flag.Args() {
		before, err := judge(dir, asked, check.JudgeWithoutLaws)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", dir, err)
			continue
		}
		now, err := judge(dir, asked, check.Judge)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", dir, err)
			continue
		}
		listed := map[string]bool{}
		for _, id := range now.Header.Judges {
			listed[id] = true
		}
		for i, r := range now.Results {
			if was := before.Results[i]; *all || was.Verdict != r.Verdict {
				mark := ""
				if listed[string(r.ID)] {
					mark = " (listed)"
				}
				fmt.Printf("%s %s%s: %s -> %s\n", dir, r.ID, mark, was.Verdict, r.Verdict)
				tell("was", was)
				tell("now", r)
			}
		}
	}
}

func judge(dir string, asked []requirement.Requirement, by func(check.Events, []requirement.Requirement) (*check.Judgement, error)) (*check.Judgement, error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, err
	}
	reader, err := history.Open(context.Background(), file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	return by(check.Read(reader), asked)
}

func tell(when string, r check.Result) {
	for _, o := range r.Observations {
		fmt.Printf("    %s: %d of %d %s\n", when, o.Seen, o.Need, o.What)
	}
	for i, v := range r.Violations {
		if i == 3 {
			break
		}
		fmt.Printf("    %s: BREACH (%d) %s %v\n", when, r.ViolationCount, v.Message, v.Evidence)
	}
	for _, reason := range r.Reasons {
		fmt.Printf("    %s: %.300s\n", when, reason)
	}
	if r.Obligations != nil {
		fmt.Printf("    %s: %+v\n", when, *r.Obligations)
	}
}
