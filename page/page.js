'use strict';
// Shows what a box is in the panel below its icicle: when it is pointed at, focused or tapped.
for (const icicle of document.querySelectorAll('.icicle')) {
  const panel = icicle.nextElementSibling;
  const boxes = Array.from(icicle.querySelectorAll('.box'));
  const facts = icicle.querySelectorAll('template');
  let shown = -1;
  const show = (at) => {
    if (at === shown) return;
    if (shown >= 0) boxes[shown].setAttribute('aria-pressed', 'false');
    shown = at;
    boxes[at].setAttribute('aria-pressed', 'true');
    panel.replaceChildren(facts[at].content.cloneNode(true));
  };
  boxes.forEach((box, at) => {
    for (const event of ['pointerenter', 'focus', 'click']) box.addEventListener(event, () => show(at));
    box.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!step || !boxes[at + step]) return;
      event.preventDefault();
      boxes[at + step].focus();
    });
  });
  if (boxes.length > 0) show(0);
}
document.documentElement.dataset.ready = 'true';
