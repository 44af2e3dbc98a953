// lab plot: the style of plots, light and dark
#include "lab/plot/style.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lab {

namespace {

constexpr int num_levels = 15;
constexpr int middle = num_levels / 2;

using rgb = std::array<double, 3>;

std::string hex(const rgb& colour) {
    static const char* digits = "0123456789abcdef";
    std::string text = "#";
    for (const double part : colour) {
        const auto value = static_cast<unsigned>(std::lround(part));
        text += digits[value / 16 % 16];
        text += digits[value % 16];
    }
    return text;
}

rgb mixed(const rgb& a, const rgb& b, double share) {
    rgb result{};
    for (std::size_t i = 0; i < 3; ++i) result[i] = a[i] + (b[i] - a[i]) * share;
    return result;
}

// Blue, grey and orange, after Okabe and Ito; the ends are furthest from the background.
std::string levels_style(const std::array<rgb, 5>& anchors) {
    std::string css;
    for (int i = 0; i < num_levels; ++i) {
        const double place = 4.0 * i / (num_levels - 1);
        const auto first = static_cast<std::size_t>(std::min(3.0, std::floor(place)));
        const std::string colour =
            hex(mixed(anchors[first], anchors[first + 1], place - static_cast<double>(first)));
        css += ".v" + std::to_string(i) + "{fill:" + colour + ";stroke:" + colour + "}";
    }
    return css + "\n";
}

}  // namespace

std::string level_style(double share) {
    if (!std::isfinite(share)) share = 0;
    return "v" +
           std::to_string(middle + static_cast<int>(std::lround(std::clamp(share, -1.0, 1.0) * middle)));
}

bool is_strong_level(double share) { return std::abs(share) * middle >= 3.5; }

std::string svg_style() {
    static const std::string style =
        std::string(R"css(svg{background:#fff}
text{font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#16191d}
.m{text-anchor:middle}.e{text-anchor:end}.soft{fill:#555d66}.b{font-weight:600}.small{font-size:10px}
.grid{stroke:#e2e5e9;fill:none}.axis{stroke:#6a727c;fill:none}.dash{stroke:#555d66;stroke-dasharray:5 4;fill:none}
.whisker{stroke:#16191d;stroke-width:1.3;fill:none}.join{stroke:#8a929b;fill:none}
.good{fill:#0072b2}.bad{fill:#c65300}.end{fill:#69727c}.s0{fill:#0072b2}.s1{fill:#e69f00}
.dot0,.dot1,.dot2{fill:none;stroke-linecap:round;stroke-linejoin:round}
.dot0{stroke:#0072b2;stroke-width:4}.dot1{stroke:#c65300;stroke-width:1.2}
.dot2{stroke:#0072b2;stroke-width:2.4}
.fine{stroke-width:.6}
.fit{stroke:#a8317f;stroke-width:2;fill:none}.mark{stroke:#a8317f;fill:none;stroke-width:1.3;stroke-dasharray:2 3}
.ring{stroke:#a8317f;fill:#fff;stroke-width:2}.arrow{stroke:#c65300;fill:none;stroke-width:1.4}
.halo{stroke:#fff;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.hatch{stroke:#9aa1a9;fill:none}.none{fill:#f0f1f3}.on{fill:#fff}.strip{stroke-width:1.6;fill:none}
)css") + levels_style({{{5, 48, 97}, {67, 147, 195}, {214, 216, 219}, {230, 140, 40}, {127, 55, 5}}}) +
        ".tile,.box{stroke:#fff;stroke-width:1.2}.line{fill:none!important;stroke-width:1.8}\n" +
        R"css(@media (prefers-color-scheme:dark){svg{background:#14171b}
text{fill:#e7eaee}.soft{fill:#a3abb5}.grid{stroke:#2b313a}.axis{stroke:#8a929b}.dash{stroke:#a3abb5}
.whisker{stroke:#f2f4f6}.join{stroke:#6a727c}.good,.s0{fill:#4aa8e8}.bad{fill:#f5894a}.s1{fill:#e6bf45}
.end{fill:#8d96a0}.dot0,.dot2{stroke:#4aa8e8}.dot1{stroke:#f5894a}.fit,.mark,.ring{stroke:#ea8cc6}.ring{fill:#14171b}
.arrow{stroke:#f5894a}.halo{stroke:#14171b}.hatch{stroke:#5b636d}.none{fill:#1f242a}
.on{fill:#14171b}
)css" + levels_style({{{150, 212, 255}, {52, 130, 196}, {62, 68, 76}, {204, 110, 30}, {255, 200, 130}}}) +
        ".tile,.box{stroke:#14171b}}\n";
    return style;
}

const char* const page_style = R"css(:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;background:#fff;color:#16191d;font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header,main,footer{max-width:1280px;margin:0 auto;padding:0 20px}
h1{font-size:1.6rem;line-height:1.25;margin:1.2rem 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:0 0 .3rem;overflow-wrap:anywhere}p{margin:.4rem 0;max-width:80ch;overflow-wrap:anywhere}
nav ul{list-style:none;margin:.6rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}a{color:#0b5cad}
.quiet{color:#555d66;font-size:.92rem}:focus-visible{outline:3px solid #0b5cad;outline-offset:2px}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,540px),1fr));gap:2.4rem 2.6rem;
padding-top:1rem;padding-bottom:2rem}figure{margin:0;min-width:0;border-top:1px solid #c9ced4;padding-top:.8rem}
.drawing{overflow-x:auto}figcaption{margin-top:.4rem;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;max-width:720px}
@media (max-width:560px){header,main,footer{padding-left:10px;padding-right:10px}}
@media (prefers-color-scheme:dark){body{background:#14171b;color:#e7eaee}a{color:#7cc0ff}.quiet{color:#a3abb5}
figure{border-color:#434b55}:focus-visible{outline-color:#7cc0ff}}
)css";

}  // namespace lab
