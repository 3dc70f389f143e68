import { defineConfig } from "vitest/config";

export default defineConfig({
  build: {
    // The content security policy is `default-src 'self'`: no data: URLs, no inline scripts.
    assetsInlineLimit: 0,
    // The finer coasts of the map, which are fetched when a person looks at a part of it.
    chunkSizeWarningLimit: 600,
    modulePreload: { polyfill: false },
  },
  // The tests read the style, too.
  test: { css: true },
  server: {
    // `npm run dev` beside a running `sixlock up --listen 127.0.0.1:8080`.
    proxy: {
      "/api": "http://127.0.0.1:8080",
      "/docs": "http://127.0.0.1:8080",
      "/sign-in": "http://127.0.0.1:8080",
    },
  },
});
