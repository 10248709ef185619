package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// JudgeWithoutLaws judges by the checks alone, to compare them with the laws that replace
// them. It goes when the last check does.
func JudgeWithoutLaws(events Events, requirements []requirement.Requirement) (*Judgement, error) {
	return judgeAll(events, begin(events.Header(), requirements, nil))
}
