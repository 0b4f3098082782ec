# syntax=docker/dockerfile:1
# keepstate with git, which `check --base` asks. Check a repository: docker run --rm -v "$PWD:/work" IMAGE check --base HEAD~1
FROM rust:1-alpine AS build
# The C library is linked in, so the program runs on any Linux.
RUN apk add --no-cache musl-dev
WORKDIR /keepstate
COPY . .
RUN cargo build --release --locked --bin keepstate

FROM alpine:3
RUN apk add --no-cache git \
    && adduser -D -H -u 1000 keepstate \
    # What is mounted belongs to someone else, so git would refuse to read it.
    && git config --system --add safe.directory '*'
COPY --from=build /keepstate/target/release/keepstate /usr/local/bin/keepstate
USER 1000
WORKDIR /work
ENTRYPOINT ["keepstate"]
CMD ["--help"]
