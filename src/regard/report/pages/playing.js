// Playing a recording: the slider moves over its moments, and the points move linearly from one to the next.
"use strict";

function makePlayer(scatter, { play, slider, when, saved }, changed) {
  const last = scatter.data.recording.moments.length - 1;
  const whole = Math.min(Math.max(last * 350, 3000), 12000); // milliseconds from the start to the end
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let frame = 0;

  function show(moment) {
    showMoment(scatter, moment);
    slider.value = String(Math.floor(moment));
    label(`epoch ${written(scatter.data.recording.moments[Math.floor(moment)])}`);
    changed();
  }

  function label(words) {
    when.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    saved.setAttribute("aria-pressed", String(scatter.moment === null));
  }

  function start() {
    const from = scatter.moment === null || scatter.moment >= last ? 0 : scatter.moment;
    const began = performance.now() - (last ? from / last : 1) * whole;
    play.setAttribute("aria-pressed", "true");
    play.querySelector("span").textContent = "Pause";
    const step = (now) => {
      const moment = Math.min((Math.max(now - began, 0) / whole) * last, last);
      show(still.matches ? Math.floor(moment) : moment); // with reduced motion, no interpolation between moments
      frame = moment < last ? requestAnimationFrame(step) : (pause(), 0);
    };
    frame = requestAnimationFrame(step);
  }

  function pause() {
    cancelAnimationFrame(frame);
    frame = 0;
    play.setAttribute("aria-pressed", "false");
    play.querySelector("span").textContent = "Play";
  }

  function back() {
    pause();
    showSaved(scatter);
    slider.value = String(last);
    label("the saved model");
    changed();
  }

  play.addEventListener("click", () => (frame ? pause() : start()));
  slider.addEventListener("input", () => {
    pause();
    show(Number(slider.value));
  });
  saved.addEventListener("click", back);
  slider.max = String(last);
  back();
  return { back, end: () => (pause(), show(last)), playing: () => frame !== 0 };
}
