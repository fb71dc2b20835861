// Renews the page when the lake changed, and sends forms without leaving it.
"use strict";

const main = () => document.getElementById("main");
const live = document.getElementById("live");
let renewing = false;

async function renew() {
  if (renewing || document.hidden) return;
  renewing = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok && answer.status !== 404) throw new Error(answer.status);
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    keepOpen(main(), made.getElementById("main"));
    main().replaceWith(made.getElementById("main"));
    document.querySelector("footer").replaceWith(made.querySelector("footer"));
    document.title = made.title;
    say("live", true);
  } catch {
    say("no answer", false);
  } finally {
    renewing = false;
  }
}

function keepOpen(before, after) {
  for (const old of before.querySelectorAll("details[id]")) {
    const now = after.querySelector(`#${CSS.escape(old.id)}`);
    if (now) now.open = old.open;
  }
}

function say(text, well) {
  live.textContent = text;
  live.classList.toggle("well", well);
}

function toast(text, bad, remedy) {
  const made = document.createElement("div");
  made.className = bad ? "toast bad" : "toast";
  made.append(text);
  if (remedy) {
    const more = document.createElement("p");
    more.textContent = remedy;
    made.append(more);
  }
  document.getElementById("toasts").append(made);
  setTimeout(() => made.remove(), bad ? 15000 : 6000);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const answer = await fetch(form.getAttribute("action"), {  // a field may be named action
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(new FormData(form)),
    });
    if (answer.headers.get("Content-Type").startsWith("application/json")) {
      const told = await answer.json();
      if (told.error) toast(told.error.message, true, told.error.hint);
      else toast(told.said, false);
    } else {
      toast(await answer.text(), !answer.ok);
    }
  } catch {
    toast("no answer", true);
  } finally {
    button.disabled = false;
    renew();
  }
});

const theme = document.getElementById("theme");
const wanted = localStorage.getItem("theme");
if (wanted) document.documentElement.dataset.theme = wanted;
theme.addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
});

const source = new EventSource("/live");
source.onopen = () => say("live", true);
source.onmessage = renew;
source.onerror = () => say("no answer", false);
setInterval(renew, 5000);
document.addEventListener("visibilitychange", renew);
