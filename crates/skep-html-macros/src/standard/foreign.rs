//! Elements of SVG and `MathML`: their names are checked, their content and attributes are not.

/// SVG 2 with filters, animations and masks, sorted. Browsers correct the case of these names only.
pub(crate) const SVG: &[&str] = words!(
    "a animate animateMotion animateTransform circle clipPath defs desc discard ellipse feBlend feColorMatrix
     feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
     feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset
     fePointLight feSpecularLighting feSpotLight feTile feTurbulence filter foreignObject g glyphRef image line
     linearGradient marker mask metadata mpath path pattern polygon polyline radialGradient rect script set stop
     style svg switch symbol text textPath title tspan use view"
);

/// `MathML` 4, sorted.
pub(crate) const MATHML: &[&str] = words!(
    "annotation annotation-xml maction math menclose merror mfenced mfrac mglyph mi mlabeledtr mlongdiv mmultiscripts
     mn mo mover mpadded mphantom mprescripts mroot mrow ms mscarries mscarry msgroup msline mspace msqrt msrow
     mstack mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics"
);

/// Names with a hyphen that are not custom elements (4.13.3).
pub(crate) const RESERVED: &[&str] = words!(
    "annotation-xml color-profile font-face font-face-format font-face-name font-face-src font-face-uri missing-glyph"
);

/// Elements of SVG and `MathML` that contain HTML (13.2.6.5).
pub(crate) const HOLDS_HTML: &[&str] = &["annotation-xml", "desc", "foreignObject", "mi", "mn", "mo", "ms", "mtext"];

pub(crate) fn is_foreign(name: &str) -> bool {
    SVG.binary_search(&name).is_ok() || MATHML.binary_search(&name).is_ok()
}
