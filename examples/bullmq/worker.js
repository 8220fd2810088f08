// Stands in for the real worker, which would make a BullMQ Worker for each queue
// of its group. Like that, it answers probes at its health port.
const http = require("node:http");

http
  .createServer((request, response) => {
    response.writeHead(["/healthz", "/readyz"].includes(request.url) ? 200 : 404).end();
  })
  .listen(process.env.WORKER_HEALTH_PORT);
process.on("SIGTERM", () => process.exit(0));
console.log(`worker of group ${process.env.WORKER_QUEUE_GROUP}`);
