// Gives the page's script a document and a way to fetch that are the widget's own.
function render({ model, el }) {
  const root = el.attachShadow({ mode: "open" });
  const sheet = document.createElement("style");
  sheet.textContent = STYLE;
  const page = document.createElement("div");
  page.className = "kempe-studio";
  page.innerHTML = PAGE;
  root.append(sheet, page);
  const waiting = new Map();
  let count = 0;
  model.on("msg:custom", (message, buffers) => {
    const done = waiting.get(message.number);
    if (!done) return;
    waiting.delete(message.number);
    done({
      status: message.status, ok: message.status < 400, statusText: String(message.status),
      json: async () => message.body,
      arrayBuffer: async () => { const b = buffers[0]; return b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength); },
    });
  });
  const fetch = (path, options = {}) => new Promise((done) => {
    waiting.set(++count, done);
    model.send({ number: count, path, body: options.body ? JSON.parse(options.body) : null });
  });
  page.querySelectorAll("a[download]").forEach((link) => link.addEventListener("click", async (event) => {
    event.preventDefault();
    const found = await (await fetch(link.getAttribute("href"))).json();
    const address = URL.createObjectURL(new Blob([found.text]));
    const save = document.createElement("a");
    save.href = address;
    save.download = link.textContent;
    save.click();
    URL.revokeObjectURL(address);
  }));
  const own = {
    getElementById: (id) => root.getElementById(id),
    createElement: (tag) => document.createElement(tag),
    addEventListener: (...what) => page.addEventListener(...what),
    body: page, documentElement: page, hidden: false, title: "",
  };
  page.tabIndex = 0;
  start(own, fetch);
  return () => { own.hidden = true; };
}
export default { render };
