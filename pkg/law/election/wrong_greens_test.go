package election_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
)

func TestLaws_FailTheWrongGreens(t *testing.T) {
	judgetest.Stories(t, stories.WrongGreens())
}
