package v1alpha1

import (
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
)

func addConversions(scheme *runtime.Scheme) error {
	pairs := []struct {
		from, to any
		convert  conversion.ConversionFunc
	}{
		{(*Ballast)(nil), (*reference.Ballast)(nil), func(from, to any, _ conversion.Scope) error {
			return toHub(from.(*Ballast), to.(*reference.Ballast))
		}},
		{(*reference.Ballast)(nil), (*Ballast)(nil), func(from, to any, _ conversion.Scope) error {
			return fromHub(from.(*reference.Ballast), to.(*Ballast))
		}},
		{(*BallastList)(nil), (*reference.BallastList)(nil), func(from, to any, _ conversion.Scope) error {
			return listToHub(from.(*BallastList), to.(*reference.BallastList))
		}},
		{(*reference.BallastList)(nil), (*BallastList)(nil), func(from, to any, _ conversion.Scope) error {
			return listFromHub(from.(*reference.BallastList), to.(*BallastList))
		}},
	}
	for _, pair := range pairs {
		if err := scheme.AddConversionFunc(pair.from, pair.to, pair.convert); err != nil {
			return err
		}
	}
	return nil
}

func toHub(from *Ballast, to *reference.Ballast) error {
	kilograms, err := parseWeight(from.Spec.Weight)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec.Kilograms = kilograms
	to.Spec.Position = from.Spec.Place
	return nil
}

func fromHub(from *reference.Ballast, to *Ballast) error {
	to.ObjectMeta = from.ObjectMeta
	to.Spec.Weight = formatWeight(from.Spec.Kilograms)
	to.Spec.Place = from.Spec.Position
	return nil
}

func listToHub(from *BallastList, to *reference.BallastList) error {
	to.ListMeta = from.ListMeta
	to.Items = nil
	if from.Items != nil {
		to.Items = make([]reference.Ballast, len(from.Items))
	}
	for i := range from.Items {
		if err := toHub(&from.Items[i], &to.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// A list is encoded with items even when there are none: clients iterate over
// it without looking.
func listFromHub(from *reference.BallastList, to *BallastList) error {
	to.ListMeta = from.ListMeta
	to.Items = make([]Ballast, len(from.Items))
	for i := range from.Items {
		if err := fromHub(&from.Items[i], &to.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
