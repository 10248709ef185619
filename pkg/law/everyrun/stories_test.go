package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
)

func TestLaws_AgreeWithTheStories(t *testing.T) {
	judgetest.Stories(t, stories.All())
}
