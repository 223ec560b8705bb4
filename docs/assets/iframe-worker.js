// Browsers start no workers on pages that are opened as files. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.loaded = new Promise((done) => this.frame.addEventListener("load", done));
      this.frame.srcdoc =
        '<script>postMessage = (message) => parent.postMessage(message, "*")</script>' + `<script src="${url}"></script>`;
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
      document.body.append(this.frame);
    }

    postMessage(message) {
      // the frame has replaced its own postMessage, so the function is taken from this window
      this.loaded.then(() => window.postMessage.call(this.frame.contentWindow, message, "*"));
    }
  };
}
