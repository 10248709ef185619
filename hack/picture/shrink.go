package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
)

// paletteSize is how many colors a PNG with a palette can have.
const paletteSize = 256

// shrink writes a PNG anew with a palette of its most frequent colors. A page has few
// colors but for the edges of its letters, so that the loss is not seen, and the file is
// a third as large.
func shrink(picture []byte) ([]byte, error) {
	whole, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds := whole.Bounds()
	often := map[color.NRGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			often[color.NRGBAModel.Convert(whole.At(x, y)).(color.NRGBA)]++
		}
	}
	// Where two are as frequent, the order of the map may not decide: the same page gives
	// the same picture.
	most := slices.SortedFunc(maps.Keys(often), func(a, b color.NRGBA) int {
		return cmp.Or(cmp.Compare(often[b], often[a]), cmp.Compare(number(a), number(b)))
	})
	palette := color.Palette{}
	for _, c := range most[:min(len(most), paletteSize)] {
		palette = append(palette, c)
	}
	small := image.NewPaletted(bounds, palette)
	draw.Draw(small, bounds, whole, bounds.Min, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func number(c color.NRGBA) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
}
