package check

import (
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/law/discovery"
	"github.com/evenkeel/evenkeel/pkg/law/election"
	"github.com/evenkeel/evenkeel/pkg/law/emulation"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun"
	"github.com/evenkeel/evenkeel/pkg/law/migration"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion"
)

// keps are the KEPs that this package judges, one line each.
var keps = []law.KEP{
	storageversion.KEP(),
	discovery.KEP(),
	election.KEP(),
	migration.KEP(),
	emulation.KEP(),
	everyrun.KEP(),
}
