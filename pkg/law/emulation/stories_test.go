package emulation_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
)

func TestLaws_AgreeWithTheStories(t *testing.T) {
	judgetest.Stories(t, stories.All())
}
