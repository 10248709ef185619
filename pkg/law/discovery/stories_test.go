package discovery_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
)

func TestLaws_AgreeWithTheStories(t *testing.T) {
	judgetest.Stories(t, stories.All())
}

func TestLaws_FailWrongGreens(t *testing.T) {
	judgetest.Stories(t, stories.WrongGreens())
}
